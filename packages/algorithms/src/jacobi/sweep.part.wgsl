// One Jacobi sweep of the five-point stencil for Δu = -f with spacing 1: next = ((left + right) + (up + down) + f) / 4, on `rows` × `columns`
// cells. Every variant computes exactly this, in this order, without a product that could be contracted: the bits depend
// neither on the variant nor on the decomposition.
//
// `u` and `next` hold a device's block with a ring of halo cells: row 0 is the upper halo, row r + 1 is row r of the block; the block's
// columns start at a multiple of four elements, the left halo is the element before. A thread computes four neighbouring
// columns (a vector), and marches down `strip` rows keeping three rows of vectors in registers.
//
// The host joins parts: this one, then how halo cells are read, where f comes from, and what observes the change.
struct Params {
  // Filled in by core, in array elements of the binding: `u` is the block with its halo, `next` its inner cells.
  u_base: u32,
  u_stride: u32,
  next_base: u32,
  next_stride: u32,
  source_base: u32,
  source_stride: u32,
  above_edge_base: u32,
  below_edge_base: u32,
  left_edge_base: u32,
  left_edge_stride: u32,
  right_edge_base: u32,
  right_edge_stride: u32,
  residual_base: u32,
  rows: u32,
  columns: u32,
  // Where the block's first cell is in the view `u`: rows down, vectors across. With a ring, row 1.
  top: u32,
  lead: u32,
  strip: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> u: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> next: array<vec4<f32>>;

@compute @workgroup_size(32, 4)
fn main(
  @builtin(global_invocation_id) position: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let vectors = (params.columns + 3u) / 4u;
  let first = min(position.y * params.strip, params.rows);
  let end = min(first + params.strip, params.rows);
  var change = 0u;
  if (first < end) {
    for (var vector = position.x; vector < vectors; vector += workgroups.x * 32u) {
      // Cells of this vector inside the block: four, fewer in the last.
      let valid = min(params.columns - vector * 4u, 4u);
      var above = load_row(first, vector);
      var center = load_inner(first, vector);
      for (var row = first; row < end; row++) {
        let below = load_row(row + 2u, vector);
        let left = vec4<f32>(load_left(row, vector), center.xyz);
        let right = vec4<f32>(center.yzw, load_right(row, vector));
        let result = 0.25 * (((left + right) + (above + below)) + load_source(row, vector));
        let at = params.next_base + row * params.next_stride + vector;
        if (valid == 4u) {
          next[at] = result;
        } else {
          next[at].x = result.x;
          if (valid > 1u) {
            next[at].y = result.y;
          }
          if (valid > 2u) {
            next[at].z = result.z;
          }
        }
        change = observe(change, center, result, valid);
        above = center;
        center = below;
      }
    }
  }
  finish(change, thread);
}

// Row `row` (from 0) of the block's inner cells.
fn load_inner(row: u32, vector: u32) -> vec4<f32> {
  return u[params.u_base + (row + params.top) * params.u_stride + params.lead + vector];
}
