//// 1
fn dft_1(x: array<Complex, 1>) -> array<Complex, 1> {
  return x;
}
//// 2
fn dft_2(x: array<Complex, 2>) -> array<Complex, 2> {
  return array<Complex, 2>(x[0] + x[1], x[0] - x[1]);
}
//// 3
fn dft_3(x: array<Complex, 3>) -> array<Complex, 3> {
  let sum = x[1] + x[2];
  let side = turn_back(x[1] - x[2]) * 0.86602540378443864676f;
  let middle = fma(sum, Complex(-0.5f), x[0]);
  return array<Complex, 3>(x[0] + sum, middle + side, middle - side);
}
//// 5
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
//// 7
// Values k and 7 − k share their cosines, and their sines with opposite signs.
fn dft_7(x: array<Complex, 7>) -> array<Complex, 7> {
  let c1 = 0.62348980185873353053f;
  let c2 = -0.22252093395631440429f;
  let c3 = -0.90096886790241912624f;
  let s1 = 0.78183148246802980871f;
  let s2 = 0.97492791218182360702f;
  let s3 = 0.43388373911755812048f;
  let p1 = x[1] + x[6];
  let p2 = x[2] + x[5];
  let p3 = x[3] + x[4];
  let m1 = turn_back(x[1] - x[6]);
  let m2 = turn_back(x[2] - x[5]);
  let m3 = turn_back(x[3] - x[4]);
  let a1 = fma(p3, Complex(c3), fma(p2, Complex(c2), fma(p1, Complex(c1), x[0])));
  let a2 = fma(p3, Complex(c1), fma(p2, Complex(c3), fma(p1, Complex(c2), x[0])));
  let a3 = fma(p3, Complex(c2), fma(p2, Complex(c1), fma(p1, Complex(c3), x[0])));
  let b1 = fma(m3, Complex(s3), fma(m2, Complex(s2), m1 * s1));
  let b2 = fma(m3, Complex(-s1), fma(m2, Complex(-s3), m1 * s2));
  let b3 = fma(m3, Complex(s2), fma(m2, Complex(-s1), m1 * s3));
  return array<Complex, 7>(x[0] + p1 + p2 + p3, a1 + b1, a2 + b2, a3 + b3, a3 - b3, a2 - b2, a1 - b1);
}
