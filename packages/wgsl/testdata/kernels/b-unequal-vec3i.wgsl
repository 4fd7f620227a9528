// run: workgroups=1,1,1 tolerance=exact
// buffer in0: i32[128] special
// buffer in1: i32[128] values(0, -1, 1, 3, -7, 100, 2, 1000000, -2147483648)
// buffer out: u32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec3i>;
@group(0) @binding(1) var<storage, read> in1: array<vec3i>;
@group(0) @binding(2) var<storage, read_write> out: array<vec3u>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = vec3u(a != b);
}
