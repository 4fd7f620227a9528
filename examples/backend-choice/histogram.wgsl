struct Params { values_length: u32 }

/** Values from 0 to 255. */
@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 256>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn histogram(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < params.values_length) { atomicAdd(&counts[values[id.x] & 255u], 1u); }
}
