@group(0) @binding(1) var<storage, read> table: array<Complex>;

// One stage of Stockham's algorithm: butterfly j.
fn compute(j: u32, start: u32, to: u32) {
  let before = params.before;
  let k = j % before;
  var x: array<Complex, RADIX>;
  for (var i = 0u; i < RADIX; i++) {
    x[i] = load(start, j + i * params.items);
  }
  if (before > 1u) {
    for (var i = 1u; i < RADIX; i++) {
      x[i] = multiply(x[i], table[params.table_base + (i - 1u) * before + k]);
    }
  }
  x = DFT(x);
  for (var i = 0u; i < RADIX; i++) {
    store(to, (j - k) * RADIX + k + i * before, x[i]);
  }
}
