// The sum of the parts of a split K, which lie below each other, `part_rows` rows each: those of an element in ascending order of k.
struct Params {
  x_base: u32,
  x_stride: u32,
  to_base: u32,
  to_stride: u32,
  rows: u32,
  // Of a row, in elements of `to`.
  columns: u32,
  parts: u32,
  part_rows: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Part>;

fn sum_of_parts(row: u32, column: u32) -> Part {
  var sum = x[params.x_base + row * params.x_stride + column];
  for (var part = 1u; part < params.parts; part++) {
    sum += x[params.x_base + (part * params.part_rows + row) * params.x_stride + column];
  }
  return sum;
}

struct Place {
  row: u32,
  column: u32,
  is_inside: bool,
}

fn place_of(workgroup: vec3<u32>, workgroups: vec3<u32>, local: vec3<u32>) -> Place {
  let across = (params.columns + 63u) / 64u;
  let linear = workgroup.y * workgroups.x + workgroup.x;
  let row = linear / across * 4u + local.y;
  let column = linear % across * 64u + local.x;
  return Place(row, column, row < params.rows && column < params.columns);
}
