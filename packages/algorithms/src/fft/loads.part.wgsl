//// complex
@group(0) @binding(0) var<storage, read> input: array<Complex>;

// Value n of the line that begins at `start`.
fn load(start: u32, n: u32) -> Complex {
  return exchanged(input[start + n * INPUT_STEP], params.exchanges_input);
}
//// real
@group(0) @binding(0) var<storage, read> input: array<f32>;

// Value n of the line of real numbers that begins at `start`.
fn load(start: u32, n: u32) -> Complex {
  return exchanged(Complex(input[start + n * INPUT_STEP], 0f), params.exchanges_input);
}
//// half
@group(0) @binding(0) var<storage, read> input: array<Complex>;

// Value n of the line that begins at `start`, of which memory has the first half: the second mirrors it. The imaginary part of a value that
// mirrors itself counts as 0.
fn load(start: u32, n: u32) -> Complex {
  let mirrored = LENGTH - n;
  let value = input[start + min(n, mirrored) * INPUT_STEP];
  let y = select(select(value.y, -value.y, mirrored < n), 0f, n == 0u || mirrored == n);
  return exchanged(Complex(value.x, y), params.exchanges_input);
}
