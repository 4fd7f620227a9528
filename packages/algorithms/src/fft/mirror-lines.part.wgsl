// One step before or after the transform of real numbers in pairs: an invocation computes value k of a line and the value that mirrors it.

struct Params {
  input_base: u32,
  output_base: u32,
  table_base: u32,
  // Pairs of all lines, and of a line of M values: k is 0 to M / 2.
  count: u32,
  pairs: u32,
  // M or M + 1.
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

@compute @workgroup_size(64)
fn mirror_lines(
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
  let k = above % params.pairs;
  let outer = above / params.pairs;
  let mirrored = min(params.input_length, params.output_length) - k;
  let read_at = params.input_base + outer * params.input_outer + inner * params.input_inner;
  let to = params.output_base + outer * params.output_outer + inner * params.output_inner;
  let a = exchanged(input[read_at + k * params.input_step], params.exchanges_input);
  let b = exchanged(input[read_at + (mirrored % params.input_length) * params.input_step], params.exchanges_input);
  let values = mirror(array<Complex, 2>(a, b), k, table[params.table_base + k]);
  output[to + k * params.output_step] = exchanged(values[0], params.exchanges_output) * params.scale;
  output[to + (mirrored % params.output_length) * params.output_step] = exchanged(values[1], params.exchanges_output) * params.scale;
}
