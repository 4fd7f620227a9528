// Lines of 2 · M real numbers as lines of M complex ones, whose real parts are the numbers at even places. With Z, the transform of such a line,
// E = (Z[k] + conj Z[M − k]) / 2 is that of its real parts, and D = (Z[k] − conj Z[M − k]) / 2, turned back, that of its imaginary parts: value k
// of the spectrum is E + exp(−πi · k / M) · (−i · D). `unpack` makes the first half of the spectrum from Z, `pack` makes 2 · Z from that half.

struct Params {
  input_base: u32,
  output_base: u32,
  table_base: u32,
  // Of all lines: the values of half a spectrum, M + 1.
  count: u32,
  length: u32,
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
// exp(−πi · k / M) for k from 0 to M.
@group(0) @binding(1) var<storage, read> table: array<Complex>;
@group(0) @binding(2) var<storage, read_write> output: array<Complex>;
@group(0) @binding(3) var<uniform> params: Params;

fn conjugate(a: Complex) -> Complex {
  return Complex(a.x, -a.y);
}

@compute @workgroup_size(64)
fn NAME(
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
  let k = above % params.length;
  let outer = above / params.length;
  let last = params.length - 1u;
  let read_at = params.input_base + outer * params.input_outer + inner * params.input_inner;
  let to = params.output_base + outer * params.output_outer + inner * params.output_inner + k * params.output_step;
  let factor = table[params.table_base + k];
  BODY
}
