// run: workgroups=1,1,1 tolerance=exact
// buffer in0: u32[128] special
// buffer in1: u32[32] values(3, -7, 0, 100)
// buffer out: u32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec4u>;
@group(0) @binding(1) var<storage, read> in1: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4u>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = a + b;
}
