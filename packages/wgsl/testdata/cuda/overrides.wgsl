// run: workgroups=1,1,1 constants=tile:8,bias:2.5
// buffer out: f32[8]
// Overrides and abstract numbers are folded before translation.
override tile: u32 = 4;
override bias: f32;
override half = tile / 2u;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;

var<workgroup> shared_values: array<f32, tile * 2>;

@compute @workgroup_size(tile)
fn main(@builtin(local_invocation_index) i: u32) {
  shared_values[i] = bias + f32(half) * 1e-1;
  shared_values[i + tile] = 1 / 3.0;
  workgroupBarrier();
  out[i] = shared_values[i] + shared_values[i ^ half] + shared_values[2 * tile - 1 - i];
}
