fn dft_2(x: array<Complex, 2>) -> array<Complex, 2> {
  return array<Complex, 2>(x[0] + x[1], x[0] - x[1]);
}
