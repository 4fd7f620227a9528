// run: workgroups=1,1,1 tolerance=exact
// buffer in0: i32[128] special
// buffer in1: u32[128] iota(0, 3)
// buffer out: i32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec3i>;
@group(0) @binding(1) var<storage, read> in1: array<vec3u>;
@group(0) @binding(2) var<storage, read_write> out: array<vec3i>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = a << b;
}
