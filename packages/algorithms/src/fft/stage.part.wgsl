// One stage of Stockham's algorithm, for lines of any length: an invocation does butterfly j of a line, without workgroup memory. For adapters that the
// CPU runs, for long lines, and for machines that compile no kernels. Lines are numbered by (outer, inner), the innermost fastest.

struct Params {
  input_base: u32,
  output_base: u32,
  table_base: u32,
  // Of all lines together.
  count: u32,
  // Butterflies of a line, and the product of the radices before.
  butterflies: u32,
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

@group(0) @binding(0) var<storage, read> input: array<Complex>;
@group(0) @binding(1) var<storage, read> table: array<Complex>;
@group(0) @binding(2) var<storage, read_write> output: array<Complex>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn stage(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let number = (workgroup.y * grid.x + workgroup.x) * 64u + invocation;
  if (number >= params.count) {
    return;
  }
  let butterflies = params.butterflies;
  let before = params.before;
  let inner = number % params.inner;
  let above = number / params.inner;
  let j = above % butterflies;
  let outer = above / butterflies;
  let k = j % before;

  let read_at = params.input_base + outer * params.input_outer + inner * params.input_inner + j * params.input_step;
  var x: array<Complex, RADIX>;
  for (var i = 0u; i < RADIX; i++) {
    x[i] = exchanged(input[read_at + i * butterflies * params.input_step], params.exchanges_input);
  }
  if (before > 1u) {
    for (var i = 1u; i < RADIX; i++) {
      x[i] = multiply(x[i], table[params.table_base + (i - 1u) * before + k]);
    }
  }
  x = DFT(x);
  let to = params.output_base + outer * params.output_outer + inner * params.output_inner + ((j - k) * RADIX + k) * params.output_step;
  for (var i = 0u; i < RADIX; i++) {
    output[to + i * before * params.output_step] = exchanged(x[i], params.exchanges_output) * params.scale;
  }
}
