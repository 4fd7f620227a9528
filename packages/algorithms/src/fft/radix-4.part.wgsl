fn dft_4(x: array<Complex, 4>) -> array<Complex, 4> {
  let a = x[0] + x[2];
  let b = x[0] - x[2];
  let c = x[1] + x[3];
  let d = turn_back(x[1] - x[3]);
  return array<Complex, 4>(a + c, b + d, a - c, b - d);
}
