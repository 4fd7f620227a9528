// run: workgroups=1,1,1 tolerance=relative:0.00001
// buffer in0: f32[128] random(-5, 5)
// buffer out: f32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec3f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3f>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = exp2(a);
}
