// run: workgroups=1,1,1 tolerance=relative:0.001,absolute:0.001
// buffer in0: f32[2] values(2.625, 1.375)
// buffer out: f32[2]

@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

fn folded() -> f32 {
  const a = 2.625f;
  const b = 1.375f;
  const result = length(vec3(a, b, 1.0)) + distance(vec2(a, b), vec2(1.0, 2.0)) + dot(vec2(a, b), vec2(b, a)) + normalize(vec2(a, b)).x + cross(vec3(a, b, 1.0), vec3(b, 1.0, a)).z + reflect(vec2(a, b), vec2(0.0, 1.0)).y + faceForward(vec2(a, b), vec2(b, a), vec2(1.0, 1.0)).x;
  return result;
}

fn computed(a: f32, b: f32) -> f32 {
  return length(vec3(a, b, 1.0)) + distance(vec2(a, b), vec2(1.0, 2.0)) + dot(vec2(a, b), vec2(b, a)) + normalize(vec2(a, b)).x + cross(vec3(a, b, 1.0), vec3(b, 1.0, a)).z + reflect(vec2(a, b), vec2(0.0, 1.0)).y + faceForward(vec2(a, b), vec2(b, a), vec2(1.0, 1.0)).x;
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
}
