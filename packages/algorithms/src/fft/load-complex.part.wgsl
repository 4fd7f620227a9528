@group(0) @binding(0) var<storage, read> input: array<Complex>;

// Value n of the line that begins at `start`.
fn load(start: u32, n: u32) -> Complex {
  return exchanged(input[start + n * INPUT_STEP], params.exchanges_input);
}
