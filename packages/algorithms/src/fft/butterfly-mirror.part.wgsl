// Real numbers in pairs: values j and POINTS - j of a line, see mirror.
fn butterfly_s(x: array<Complex, 2>, j: u32) -> array<Complex, 2> {
  return mirror(x, j, table[params.table_base + TABLE_s + j]);
}
