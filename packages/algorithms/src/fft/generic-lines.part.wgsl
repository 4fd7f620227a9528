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
