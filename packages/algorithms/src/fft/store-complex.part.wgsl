@group(0) @binding(2) var<storage, read_write> output: array<Complex>;

fn store(start: u32, k: u32, value: Complex) {
  output[start + k * OUTPUT_STEP] = exchanged(value, params.exchanges_output) * params.scale;
}
