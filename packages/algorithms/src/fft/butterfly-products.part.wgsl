// As butterfly, but only the factors below SPLIT_s and at its multiples are read; the others are products of two of these.
fn butterfly_s(x: array<Complex, RADIX_s>, j: u32) -> array<Complex, RADIX_s> {
  var y = x;
  let first = params.table_base + TABLE_s + j % BEFORE_s;
  for (var i = 1u; i < RADIX_s; i++) {
    let low = i % SPLIT_s;
    var factor = table[first + (i - select(low, 0u, i < SPLIT_s) - 1u) * BEFORE_s];
    if (low > 0u && i > SPLIT_s) {
      factor = multiply(factor, table[first + (low - 1u) * BEFORE_s]);
    }
    y[i] = multiply(x[i], factor);
  }
  return DFT_s(y);
}
