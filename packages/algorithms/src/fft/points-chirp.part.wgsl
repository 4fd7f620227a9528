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
