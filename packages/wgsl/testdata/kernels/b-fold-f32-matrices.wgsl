// run: workgroups=1,1,1 tolerance=relative:0.001,absolute:0.001
// buffer in0: f32[2] values(2.625, 1.375)
// buffer out: f32[2]

@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

fn folded() -> f32 {
  const a = 2.625f;
  const b = 1.375f;
  const result = determinant(mat2x2(a, b, 1.0, 2.0)) + (mat2x3(a, b, 1.0, 2.0, 3.0, 4.0) * vec2(b, a)).z + (vec2(a, b) * mat3x2(1.0, 2.0, 3.0, 4.0, a, b)).y + transpose(mat2x3(a, 1.0, b, 2.0, 3.0, 4.0))[2].y + (mat2x2(a, 0.0, 0.0, b) * mat2x2(1.0, 2.0, 3.0, 4.0))[1].x;
  return result;
}

fn computed(a: f32, b: f32) -> f32 {
  return determinant(mat2x2(a, b, 1.0, 2.0)) + (mat2x3(a, b, 1.0, 2.0, 3.0, 4.0) * vec2(b, a)).z + (vec2(a, b) * mat3x2(1.0, 2.0, 3.0, 4.0, a, b)).y + transpose(mat2x3(a, 1.0, b, 2.0, 3.0, 4.0))[2].y + (mat2x2(a, 0.0, 0.0, b) * mat2x2(1.0, 2.0, 3.0, 4.0))[1].x;
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
}
