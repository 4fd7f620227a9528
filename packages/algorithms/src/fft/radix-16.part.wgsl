// Four columns and then four rows of a 4 × 4 square, each by dft_4, with powers of exp(−2πi / 16) between.
fn dft_16(x: array<Complex, 16>) -> array<Complex, 16> {
  let half = 0.70710678118654752440f;
  let w1 = Complex(0.92387953251128675613f, -0.38268343236508977173f);
  let w3 = Complex(0.38268343236508977173f, -0.92387953251128675613f);
  let a = dft_4(array<Complex, 4>(x[0], x[4], x[8], x[12]));
  let b = dft_4(array<Complex, 4>(x[1], x[5], x[9], x[13]));
  let c = dft_4(array<Complex, 4>(x[2], x[6], x[10], x[14]));
  let d = dft_4(array<Complex, 4>(x[3], x[7], x[11], x[15]));
  let r0 = dft_4(array<Complex, 4>(a[0], b[0], c[0], d[0]));
  let c1 = Complex(c[1].x + c[1].y, c[1].y - c[1].x) * half;
  let r1 = dft_4(array<Complex, 4>(a[1], multiply(b[1], w1), c1, multiply(d[1], w3)));
  let b2 = Complex(b[2].x + b[2].y, b[2].y - b[2].x) * half;
  let d2 = Complex(d[2].y - d[2].x, -d[2].x - d[2].y) * half;
  let r2 = dft_4(array<Complex, 4>(a[2], b2, turn_back(c[2]), d2));
  let c3 = Complex(c[3].y - c[3].x, -c[3].x - c[3].y) * half;
  let r3 = dft_4(array<Complex, 4>(a[3], multiply(b[3], w3), c3, multiply(d[3], -w1)));
  return array<Complex, 16>(
    r0[0], r1[0], r2[0], r3[0], r0[1], r1[1], r2[1], r3[1],
    r0[2], r1[2], r2[2], r3[2], r0[3], r1[3], r2[3], r3[3],
  );
}
