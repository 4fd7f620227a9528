// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f16[128] values(0, 1, -1, 1.9, -1.9, 65504, -65504, 0.5, 1234, -0.1)
// buffer out: f32[128]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<vec3h>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3f>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = vec3f(a);
}
