// Lines of real numbers or of half a spectrum become lines of complex numbers, and back: see load and store.
fn compute(n: u32, start: u32, to: u32) {
  store(to, n, load(start, n));
}
