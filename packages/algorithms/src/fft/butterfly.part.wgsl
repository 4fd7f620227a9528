// Butterfly j of stage s: its values times their factors exp(−2πi · (j mod BEFORE_s) · i / (BEFORE_s · RADIX_s)), and the DFT of these.
fn butterfly_s(x: array<Complex, RADIX_s>, j: u32) -> array<Complex, RADIX_s> {
  var y = x;
  let first = params.table_base + TABLE_s + j % BEFORE_s;
  for (var i = 1u; i < RADIX_s; i++) {
    y[i] = multiply(x[i], table[first + (i - 1u) * BEFORE_s]);
  }
  return DFT_s(y);
}
