// Which elements of C the parts cannot give: those of a special row or column, those that may overflow or come near the smallest numbers, and
// small sums of a row or column with small elements. `depth` is the least d with 2^d ≥ k. The f32 kernel behind makes those.
fn needs_f32(value: f32, row: u32, least_row: u32, column: u32, least_column: u32, depth: i32) -> bool {
  if (is_special(row) || is_special(column)) {
    return true;
  }
  if (row == 0u || column == 0u) {
    return false;
  }
  // The largest product is at least 2^exponent and below 2^(exponent + 2).
  let exponent = exponent_of(row) + exponent_of(column);
  if (exponent + 2 + depth >= 127 || exponent < -76) {
    return true;
  }
  if (!is_wide(row, least_row) && !is_wide(column, least_column)) {
    return false;
  }
  return !(abs(value) >= bitcast<f32>(u32(clamp(exponent + depth - 23, -126, 127) + 127) << 23u));
}
