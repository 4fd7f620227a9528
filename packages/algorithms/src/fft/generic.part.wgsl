//// stage
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
//// chirp
@group(0) @binding(1) var<storage, read> table: array<Complex>;

// Bluestein's algorithm before, between and after the two transforms of padded lines: value n times value n of the table. What is past the end of
// a line that is read is 0.
fn compute(n: u32, start: u32, to: u32) {
  var value = Complex();
  if (n < params.input_length) {
    value = multiply(load(start, n), table[params.table_base + n]);
  }
  store(to, n, value);
}
//// mirror
@group(0) @binding(1) var<storage, read> table: array<Complex>;

// Before or after the transform of real numbers in pairs: value k of a line and the value that mirrors it. Lengths are M or M + 1.
fn compute(k: u32, start: u32, to: u32) {
  let mirrored = min(params.input_length, params.output_length) - k;
  let x = array<Complex, 2>(load(start, k), load(start, mirrored % params.input_length));
  let values = mirror(x, k, table[params.table_base + k]);
  store(to, k, values[0]);
  store(to, mirrored % params.output_length, values[1]);
}
//// convert
// Lines of real numbers or of half a spectrum become lines of complex numbers, and back: see load and store.
fn compute(n: u32, start: u32, to: u32) {
  store(to, n, load(start, n));
}
//// lines
// Kernels for lines of any length, without workgroup memory: for adapters that the CPU runs, for long lines, and for machines that compile no
// kernels. An invocation computes item n of a line, see compute. Lines are numbered by (outer, inner), the innermost fastest.

struct Params {
  input_base: u32,
  output_base: u32,
  table_base: u32,
  // Of all lines together, and of each.
  count: u32,
  items: u32,
  // Values of a line that are read, and that are written.
  input_length: u32,
  output_length: u32,
  // The product of the radices before a stage.
  before: u32,
  inner: u32,
  input_outer: u32,
  input_inner: u32,
  input_step: u32,
  output_outer: u32,
  output_inner: u32,
  output_step: u32,
  exchanges_input: u32,
  exchanges_output: u32,
  scale: f32,
}

@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn compute_lines(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let number = (workgroup.y * grid.x + workgroup.x) * 64u + invocation;
  if (number >= params.count) {
    return;
  }
  let inner = number % params.inner;
  let above = number / params.inner;
  let outer = above / params.items;
  compute(
    above % params.items,
    params.input_base + outer * params.input_outer + inner * params.input_inner,
    params.output_base + outer * params.output_outer + inner * params.output_inner,
  );
}
