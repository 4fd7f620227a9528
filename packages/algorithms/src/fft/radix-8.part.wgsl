// The even and the odd values, each by dft_4.
fn dft_8(x: array<Complex, 8>) -> array<Complex, 8> {
  let e = dft_4(array<Complex, 4>(x[0], x[2], x[4], x[6]));
  let o = dft_4(array<Complex, 4>(x[1], x[3], x[5], x[7]));
  let half = 0.70710678118654752440f;
  let o1 = Complex(o[1].x + o[1].y, o[1].y - o[1].x);
  let o2 = turn_back(o[2]);
  let o3 = Complex(o[3].y - o[3].x, -o[3].x - o[3].y);
  let h = Complex(half);
  return array<Complex, 8>(
    e[0] + o[0], fma(o1, h, e[1]), e[2] + o2, fma(o3, h, e[3]),
    e[0] - o[0], fma(o1, -h, e[1]), e[2] - o2, fma(o3, -h, e[3]),
  );
}
