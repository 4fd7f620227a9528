// run: workgroups=1,1,1 tolerance=absolute:0.0001,relative:0.00001
// buffer in0: f32[64] random(-2, 2)
// buffer out: f32[16]

@group(0) @binding(0) var<storage, read> in0: array<mat4x3f, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3f>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  let v = vec4f(f32(i) + 0.5, f32(i) + 1.5, f32(i) + 2.5, f32(i) + 3.5);
  out[i] = in0[i] * v;
}
