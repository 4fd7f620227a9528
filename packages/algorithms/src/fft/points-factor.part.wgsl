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
