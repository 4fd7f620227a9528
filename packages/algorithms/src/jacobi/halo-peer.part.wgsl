// Halo cells come straight from the neighbours' edges: the views may be another device's memory. `left` and `right` are columns.
@group(0) @binding(5) var<storage, read> above_edge: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> below_edge: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> left_edge: array<f32>;
@group(0) @binding(8) var<storage, read> right_edge: array<f32>;

fn load_row(row: u32, vector: u32) -> vec4<f32> {
  if (row == 0u) {
    return above_edge[params.above_edge_base + vector];
  }
  if (row == params.rows + 1u) {
    return below_edge[params.below_edge_base + vector];
  }
  return u[params.u_base + (row + params.top - 1u) * params.u_stride + params.lead + vector];
}

fn load_left(row: u32, vector: u32) -> f32 {
  if (vector == 0u) {
    return left_edge[params.left_edge_base + row * params.left_edge_stride];
  }
  return u[params.u_base + (row + params.top) * params.u_stride + params.lead + vector - 1u].w;
}

fn load_right(row: u32, vector: u32) -> f32 {
  // A last vector that is not full holds its right neighbour itself and does not use what this returns.
  if (vector * 4u + 4u >= params.columns) {
    return right_edge[params.right_edge_base + row * params.right_edge_stride];
  }
  return u[params.u_base + (row + params.top) * params.u_stride + params.lead + vector + 1u].x;
}
