// A matrix of `rows` × `columns` f32, and its f16 parts: `part_rows` × `part_columns` halves, zero outside of the matrix, the low parts `low`
// elements after the high ones.
struct Params {
  // Filled in by core, in array elements of the binding.
  x_base: u32,
  x_stride: u32,
  parts_base: u32,
  parts_stride: u32,
  rows: u32,
  columns: u32,
  part_rows: u32,
  part_columns: u32,
  low: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
