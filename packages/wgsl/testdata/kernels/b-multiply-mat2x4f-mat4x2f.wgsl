// run: workgroups=1,1,1 tolerance=absolute:0.0001,relative:0.00001
// buffer in0: f32[32] random(-2, 2)
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read> in0: array<mat2x4f, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<mat4x4f>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = in0[i] * transpose(in0[3u - i]);
}
