alias Element = f32;

// One rounding, so that no compiler's choice to contract changes the bits.
fn multiply_add(x: f32, y: vec4<f32>, sum: vec4<f32>) -> vec4<f32> {
  return fma(vec4<f32>(x), y, sum);
}

fn multiply_add_1(x: f32, y: f32, sum: f32) -> f32 {
  return fma(x, y, sum);
}
