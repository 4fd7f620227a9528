// run: workgroups=1,1,1 tolerance=exact
// buffer in0: i32[128] random(-2000, 2000)
// buffer out: f16[128]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<vec3i>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3h>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = vec3h(a);
}
