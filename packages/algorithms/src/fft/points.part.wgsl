//// plain
fn load_point(start: u32, n: u32) -> Complex {
  return load(start, n);
}

fn store_point(start: u32, k: u32, column: u32, value: Complex) {
  store(start, k, value);
}
//// chirp
// Bluestein: a transform of any length is a convolution with a chirp, exp(−πi · n² / LENGTH), between two products with it.

fn load_point(start: u32, n: u32) -> Complex {
  let inside = min(n, LENGTH - 1u);
  let value = multiply(load(start, inside), table[params.table_base + CHIRP + inside]);
  return select(Complex(), value, n < LENGTH);
}

fn store_point(start: u32, k: u32, column: u32, value: Complex) {
  if (k < LENGTH) {
    store(start, k, multiply(value.yx, table[params.table_base + CHIRP + k]));
  }
}
//// factor
// A long line is a square of lines: between its sides, value k of column n takes the factor exp(−2πi · k · n / (the whole length)), which is the
// product of a factor for the low bits of k · n and one for the others.

fn load_point(start: u32, n: u32) -> Complex {
  return load(start, n);
}

fn store_point(start: u32, k: u32, column: u32, value: Complex) {
  let m = k * column;
  let low = table[params.table_base + LOW + (m & ((1u << LOW_BITS) - 1u))];
  let high = table[params.table_base + HIGH + (m >> LOW_BITS)];
  store(start, k, multiply(value, multiply(low, high)));
}
