// starts[device][bucket]: where the keys of a device's bucket go, among those of all devices. Buckets come one after another, and the devices within one.

struct Params {
  totals_base: u32,
  totals_stride: u32,
  totals_rows: u32,
  starts_base: u32,
  starts_length: u32,
  buckets: u32,
}

@group(0) @binding(0) var<storage, read> totals: array<u32>;
@group(0) @binding(1) var<storage, read_write> starts: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn bucket_starts(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let index = group.x * 64u + place;
  if (index >= params.starts_length) {
    return;
  }
  let own_device = index / params.buckets;
  let own_bucket = index % params.buckets;
  var start = 0u;
  for (var device = 0u; device < params.totals_rows; device++) {
    for (var bucket = 0u; bucket <= own_bucket; bucket++) {
      let before = bucket < own_bucket || device < own_device;
      start += select(0u, totals[params.totals_base + device * params.totals_stride + bucket], before);
    }
  }
  starts[params.starts_base + index] = start;
}
