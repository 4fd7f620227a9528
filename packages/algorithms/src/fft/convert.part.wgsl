// Lines of real numbers or of half a spectrum become lines of complex numbers, and back: see load and store, which stand before this.
// LENGTH is that of the whole line.

struct Params {
  input_base: u32,
  output_base: u32,
  // Values of all lines that are written, or, where only half of them is, looked at.
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

@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn convert(
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
  let n = above % params.length;
  let outer = above / params.length;
  let read_at = params.input_base + outer * params.input_outer + inner * params.input_inner;
  let to = params.output_base + outer * params.output_outer + inner * params.output_inner;
  store(to, n, load(read_at, n));
}
