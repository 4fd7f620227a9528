// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f32[128] values(1, -1.5, 0.1, 1000, -0.375, 65536, 3, 7.75)
// buffer out: i32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec3f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3i>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = frexp(a).exp;
}
