// run: workgroups=1,1,1 tolerance=absolute:0.0001
// buffer in0: f32[128] random(-1, 1)
// buffer in1: f32[128] random(-1, 1)
// buffer out: f32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec3f>;
@group(0) @binding(1) var<storage, read> in1: array<vec3f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec3f>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = refract(normalize(a), normalize(b), 0.5);
}
