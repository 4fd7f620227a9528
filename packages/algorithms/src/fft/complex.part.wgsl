// Complex numbers are pairs of f32.

alias Complex = vec2<f32>;

fn multiply(a: Complex, b: Complex) -> Complex {
  return Complex(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

// a · (−i)
fn turn_back(a: Complex) -> Complex {
  return Complex(a.y, -a.x);
}

// a · exp(−πi / 4)
fn turn_eighth(a: Complex) -> Complex {
  return Complex(a.x + a.y, a.y - a.x) * 0.70710678118654752440f;
}

// The inverse transform is the forward one of values whose parts are exchanged, with the results' parts exchanged.
fn exchanged(a: Complex, exchanges: u32) -> Complex {
  return select(a, a.yx, exchanges != 0u);
}
