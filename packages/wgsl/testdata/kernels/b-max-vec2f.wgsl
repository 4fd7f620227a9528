// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f32[64] special
// buffer in1: f32[64] random
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read> in0: array<vec2f>;
@group(0) @binding(1) var<storage, read> in1: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2f>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = max(a, b);
}
