// run: workgroups=1,1,1 tolerance=relative:0.00001
// buffer in0: f32[128] random(0.5, 4)
// buffer out: f32[32]

@group(0) @binding(0) var<storage, read> in0: array<vec3f>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = length(a);
}
