// run: workgroups=1,1,1 tolerance=absolute:0.004,relative:0.008
// buffer in0: f16[128] random(-10, 10)
// buffer out: f16[128]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<vec3h>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3h>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = atan(a);
}
