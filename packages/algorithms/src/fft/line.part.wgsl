//// params
// A workgroup transforms LINES lines of LENGTH values in workgroup memory, in the stages of Stockham's algorithm. Lines are numbered by (outer,
// middle, inner), the innermost fastest; a group takes consecutive inner numbers.
//
// The host puts constants in front: LENGTH; LINES and THREADS, invocations of a line; INPUTS and OUTPUTS, how many values of a butterfly of
// the first and of the last stage lie in the line, which is all of them unless a convolution pads it; and for each stage s RADIX_s, BEFORE_s
// (the product of the radices before it), BUTTERFLIES_s, COUNT_s (butterflies of an invocation) and TABLE_s (where its factors begin).

struct Params {
  input_base: u32,
  output_base: u32,
  table_base: u32,
  // Workgroups with work, and those that share outer and middle.
  groups: u32,
  groups_across: u32,
  inner: u32,
  middle: u32,
  // In array elements: from one line or value to the next.
  input_outer: u32,
  input_middle: u32,
  input_inner: u32,
  input_step: u32,
  output_outer: u32,
  output_middle: u32,
  output_inner: u32,
  output_step: u32,
  // Of the columns of a square: 1 where inner numbers are the columns, 0 where middle numbers are.
  inner_columns: u32,
  exchanges_input: u32,
  exchanges_output: u32,
  scale: f32,
}

@group(0) @binding(1) var<storage, read> table: array<Complex>;
@group(0) @binding(3) var<uniform> params: Params;
//// load

@compute @workgroup_size(WIDTH, HEIGHT)
fn transform(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let group = workgroup.y * grid.x + workgroup.x;
  if (group >= params.groups) {
    return;
  }
  let first_inner = (group % params.groups_across) * LINES;
  let above = group / params.groups_across;
  let middle = above % params.middle;
  let outer = above / params.middle;

  // Lines past the end read the last one, and store nothing.
  let read_inner = min(first_inner + LINE_s, params.inner - 1u);
  let read_at = params.input_base + outer * params.input_outer + middle * params.input_middle +
    read_inner * params.input_inner;
  var x_s: array<array<Complex, RADIX_s>, COUNT_s>;
  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    for (var i = 0u; i < INPUTS; i++) {
      x_s[u][i] = load_point(read_at, PLACE_s(j, i));
    }
  }
//// butterflies
  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    x_s[u] = butterfly_s(x_s[u], j);
  }
//// convolve
  // The spectrum is complete: its product with that of the chirp goes back through the same stages.
  for (var u = 0u; u < COUNT_s; u++) {
    let j = INDEX_s(THREAD_s + u * THREADS);
    for (var i = 0u; i < RADIX_s; i++) {
      let factor = table[params.table_base + SPECTRUM + j + i * BUTTERFLIES_s];
      x_s[u][i] = multiply(x_s[u][i], factor).yx;
    }
  }
//// store
  let write_inner = first_inner + LINE_s;
  if (write_inner < params.inner) {
    let to = params.output_base + outer * params.output_outer + middle * params.output_middle +
      write_inner * params.output_inner;
    let column = select(middle, write_inner, params.inner_columns != 0u);
    for (var u = 0u; u < COUNT_s; u++) {
      let j = THREAD_s + u * THREADS;
      IF_s (j < BUTTERFLIES_s) {
      for (var i = 0u; i < OUTPUTS; i++) {
        let k = PLACE_s(j, i);
        store_point(to, k, column, x_s[u][i]);
      }
      }
    }
  }
}
