//// factors
// Butterfly j of stage s: its values times their factors exp(−2πi · (j mod BEFORE_s) · i / (BEFORE_s · RADIX_s)), and the DFT of these.
fn butterfly_s(x: array<Complex, RADIX_s>, j: u32) -> array<Complex, RADIX_s> {
  var y = x;
  let first = params.table_base + TABLE_s + j % BEFORE_s;
  for (var i = 1u; i < RADIX_s; i++) {
    y[i] = multiply(x[i], table[first + (i - 1u) * BEFORE_s]);
  }
  return DFT_s(y);
}
//// first
fn butterfly_s(x: array<Complex, RADIX_s>, j: u32) -> array<Complex, RADIX_s> {
  return DFT_s(x);
}
//// mirror
// Real numbers in pairs: values j and POINTS - j of a line, see mirror.
fn butterfly_s(x: array<Complex, 2>, j: u32) -> array<Complex, 2> {
  return mirror(x, j, table[params.table_base + TABLE_s + j]);
}
//// products
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
