@group(0) @binding(0) var<storage, read> input: array<f32>;

// Value n of the line of real numbers that begins at `start`.
fn load(start: u32, n: u32) -> Complex {
  return exchanged(Complex(input[start + n * INPUT_STEP], 0f), params.exchanges_input);
}
