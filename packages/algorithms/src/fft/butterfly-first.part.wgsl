fn butterfly_s(x: array<Complex, RADIX_s>, j: u32) -> array<Complex, RADIX_s> {
  return DFT_s(x);
}
