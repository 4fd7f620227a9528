fn digit_of(key: u32) -> u32 {
  return (key >> params.shift) & (DIGITS - 1u);
}
