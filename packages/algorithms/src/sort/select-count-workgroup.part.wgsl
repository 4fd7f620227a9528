// Counts the next digit of the keys that begin as each splitter does, in a row for each; where no digit is known yet, in one row for all.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read> splitters: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> rows: array<atomic<u32>, 3840>;

@compute @workgroup_size(256)
fn select_count(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let count = params.counts_length / 256u;
  let end = min((group.x + 1u) * params.range, params.keys_length);
  for (var at = group.x * params.range + place; at < end; at += 256u) {
    let key = encoded(bitcast<u32>(keys[params.keys_base + at]));
    for (var k = 0u; k < count; k++) {
      if (params.shift == 24u || key >> ((params.shift + 8u) & 31u) == splitters[params.splitters_base + k]) {
        atomicAdd(&rows[k * 256u + ((key >> params.shift) & 255u)], 1u);
      }
    }
  }
  workgroupBarrier();
  for (var k = place; k < count * 256u; k += 256u) {
    let sum = atomicLoad(&rows[k]);
    if (sum > 0u) {
      atomicAdd(&counts[params.counts_base + k], sum);
    }
  }
}
