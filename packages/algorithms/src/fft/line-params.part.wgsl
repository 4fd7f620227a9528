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
