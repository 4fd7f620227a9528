fn load_point(start: u32, n: u32) -> Complex {
  return load(start, n);
}

fn store_point(start: u32, k: u32, column: u32, value: Complex) {
  store(start, k, value);
}
