// Bluestein's algorithm through memory, value by value: before, between and after the two transforms of padded lines.

struct Params {
  input_base: u32,
  output_base: u32,
  table_base: u32,
  // Values of all lines that are written.
  count: u32,
  // Values of a line that are read, and that are written.
  input_length: u32,
  output_length: u32,
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

/** Value n of each line times value n of the table; what is past the end of a line that is read is 0. */
@compute @workgroup_size(64)
fn multiply_lines(
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
  let n = above % params.output_length;
  let outer = above / params.output_length;
  var value = Complex();
  if (n < params.input_length) {
    let read_at = params.input_base + outer * params.input_outer + inner * params.input_inner + n * params.input_step;
    value = multiply(exchanged(input[read_at], params.exchanges_input), table[params.table_base + n]);
  }
  let to = params.output_base + outer * params.output_outer + inner * params.output_inner + n * params.output_step;
  output[to] = exchanged(value, params.exchanges_output) * params.scale;
}
