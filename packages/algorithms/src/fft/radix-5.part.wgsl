// Values k and 5 − k share their cosines, and their sines with opposite signs.
fn dft_5(x: array<Complex, 5>) -> array<Complex, 5> {
  let c1 = 0.30901699437494742410f;
  let c2 = -0.80901699437494742410f;
  let s1 = 0.95105651629515357212f;
  let s2 = 0.58778525229247312917f;
  let p1 = x[1] + x[4];
  let p2 = x[2] + x[3];
  let m1 = turn_back(x[1] - x[4]);
  let m2 = turn_back(x[2] - x[3]);
  let a1 = fma(p2, Complex(c2), fma(p1, Complex(c1), x[0]));
  let a2 = fma(p2, Complex(c1), fma(p1, Complex(c2), x[0]));
  let b1 = fma(m2, Complex(s2), m1 * s1);
  let b2 = fma(m2, Complex(-s1), m1 * s2);
  return array<Complex, 5>(x[0] + p1 + p2, a1 + b1, a2 + b2, a2 - b2, a1 - b1);
}
