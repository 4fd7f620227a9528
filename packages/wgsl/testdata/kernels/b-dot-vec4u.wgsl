// run: workgroups=1,1,1 tolerance=exact
// buffer in0: u32[128] random
// buffer in1: u32[128] special
// buffer out: u32[32]

@group(0) @binding(0) var<storage, read> in0: array<vec4u>;
@group(0) @binding(1) var<storage, read> in1: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = dot(a, b);
}
