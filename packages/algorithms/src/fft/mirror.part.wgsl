// A line of 2 · M real numbers is a line of M complex ones, whose real parts are the numbers at even places. With Z, its transform,
// E = (Z[k] + conj Z[M − k]) / 2 is that of the real parts, and D = (Z[k] − conj Z[M − k]) / 2, turned back, that of the imaginary parts: value k
// of the spectrum is E + exp(−πi · k / M) · (−i · D).

// From values k and M − k of Z, those of the spectrum; or, for the inverse transform, whose parts are exchanged, from those of half a spectrum
// those of 2 · Z. `factor` is exp(−πi · k / M).
fn mirror(values: array<Complex, 2>, k: u32, factor: Complex) -> array<Complex, 2> {
  let inverse = params.exchanges_input != 0u;
  let scale = select(0.5f, 1f, inverse);
  var a = values[0];
  var b = select(values[1], -values[1], inverse);
  if (k == 0u && inverse) {
    // The imaginary parts of the first and the last value count as 0.
    a.x = 0f;
    b.x = 0f;
  } else if (k == 0u) {
    b = a;
  }
  b = Complex(b.x, -b.y);
  let sum = (a + b) * scale;
  let turned = multiply(turn_back(a - b), factor) * scale;
  let other = sum - turned;
  return array<Complex, 2>(sum + turned, select(Complex(other.x, -other.y), Complex(-other.x, other.y), inverse));
}
