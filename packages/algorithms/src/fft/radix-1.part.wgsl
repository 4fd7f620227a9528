fn dft_1(x: array<Complex, 1>) -> array<Complex, 1> {
  return x;
}
