@group(0) @binding(1) var<storage, read> table: array<Complex>;

// Bluestein's algorithm before, between and after the two transforms of padded lines: value n times value n of the table. What is past the end of
// a line that is read is 0.
fn compute(n: u32, start: u32, to: u32) {
  var value = Complex();
  if (n < params.input_length) {
    value = multiply(load(start, n), table[params.table_base + n]);
  }
  store(to, n, value);
}
