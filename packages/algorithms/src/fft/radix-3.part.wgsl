fn dft_3(x: array<Complex, 3>) -> array<Complex, 3> {
  let sum = x[1] + x[2];
  let side = turn_back(x[1] - x[2]) * 0.86602540378443864676f;
  let middle = fma(sum, Complex(-0.5f), x[0]);
  return array<Complex, 3>(x[0] + sum, middle + side, middle - side);
}
