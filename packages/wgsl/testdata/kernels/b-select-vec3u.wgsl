// run: workgroups=1,1,1 tolerance=exact
// buffer in0: u32[128] random
// buffer in1: u32[128] random
// buffer in2: i32[128] values(0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0)
// buffer out: u32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec3u>;
@group(0) @binding(1) var<storage, read> in1: array<vec3u>;
@group(0) @binding(2) var<storage, read> in2: array<vec3i>;
@group(0) @binding(3) var<storage, read_write> out: array<vec3u>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  let c = in2[i];
  out[i] = select(a, b, vec3<bool>(c));
}
