@group(0) @binding(1) var<storage, read> table: array<Complex>;

// Before or after the transform of real numbers in pairs: value k of a line and the value that mirrors it. Lengths are M or M + 1.
fn compute(k: u32, start: u32, to: u32) {
  let mirrored = min(params.input_length, params.output_length) - k;
  let x = array<Complex, 2>(load(start, k), load(start, mirrored % params.input_length));
  let values = mirror(x, k, table[params.table_base + k]);
  store(to, k, values[0]);
  store(to, mirrored % params.output_length, values[1]);
}
