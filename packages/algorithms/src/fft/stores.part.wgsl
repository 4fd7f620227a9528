//// complex
@group(0) @binding(2) var<storage, read_write> output: array<Complex>;

fn store(start: u32, k: u32, value: Complex) {
  output[start + k * OUTPUT_STEP] = exchanged(value, params.exchanges_output) * params.scale;
}
//// real
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

fn store(start: u32, k: u32, value: Complex) {
  output[start + k * OUTPUT_STEP] = exchanged(value, params.exchanges_output).x * params.scale;
}
//// half
@group(0) @binding(2) var<storage, read_write> output: array<Complex>;

// Of the spectrum of real numbers: its second half mirrors the first.
fn store(start: u32, k: u32, value: Complex) {
  if (k <= LENGTH / 2u) {
    output[start + k * OUTPUT_STEP] = exchanged(value, params.exchanges_output) * params.scale;
  }
}
