// As select-count-workgroup.part.wgsl, for adapters that run on the CPU.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read> splitters: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(1)
fn select_count(@builtin(workgroup_id) group: vec3<u32>) {
  let count = params.counts_length / 256u;
  let end = min((group.x + 1u) * params.range, params.keys_length);
  for (var at = group.x * params.range; at < end; at++) {
    let key = encoded(bitcast<u32>(keys[params.keys_base + at]));
    for (var k = 0u; k < count; k++) {
      if (params.shift == 24u || key >> ((params.shift + 8u) & 31u) == splitters[params.splitters_base + k]) {
        atomicAdd(&counts[params.counts_base + k * 256u + ((key >> params.shift) & 255u)], 1u);
      }
    }
  }
}
