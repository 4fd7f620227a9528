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
