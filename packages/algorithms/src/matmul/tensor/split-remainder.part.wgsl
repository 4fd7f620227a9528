// The elements of C that a split product cannot give, as the f32 kernels make them: products in ascending k with one rounding each, the parts of a split
// K added in order. A workgroup looks at one tile of the split product, and leaves at once where nothing is flagged.

const TILE_M = 64u;
const TILE_N = 128u;

struct Params {
  a_base: u32,
  a_stride: u32,
  b_base: u32,
  b_stride: u32,
  c_base: u32,
  c_stride: u32,
  m: u32,
  n: u32,
  k: u32,
  k_chunk: u32,
  depth: i32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(0) @binding(4) var<storage, read> row_extremes: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> column_extremes: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read> flags: array<u32>;

fn product(row: u32, column: u32) -> f32 {
  let a_row = params.a_base + row * params.a_stride;
  let b_column = params.b_base + column;
  var total = 0.0;
  for (var first = 0u; first < params.k; first += params.k_chunk) {
    var sum = 0.0;
    let end = min(first + params.k_chunk, params.k);
    var k = first;
    // Few invocations come here, and each waits for its loads: eight at a time.
    for (; k + 8u <= end; k += 8u) {
      var x: array<f32, 8>;
      var y: array<f32, 8>;
      for (var i = 0u; i < 8u; i++) {
        x[i] = a[a_row + k + i];
        y[i] = b[b_column + (k + i) * params.b_stride];
      }
      for (var i = 0u; i < 8u; i++) {
        sum = fma(x[i], y[i], sum);
      }
    }
    for (; k < end; k++) {
      sum = fma(a[a_row + k], b[b_column + k * params.b_stride], sum);
    }
    if (params.k_chunk >= params.k) {
      return sum;
    }
    total += sum;
  }
  return total;
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = workgroup.y * workgroups.x + workgroup.x;
  let place = tile_place(tile);
  if (place.x * TILE_M >= params.m || flags[tile] == 0u) {
    return;
  }
  let column = place.y * TILE_N + thread;
  if (column >= params.n) {
    return;
  }
  for (var i = 0u; i < TILE_M; i++) {
    let row = place.x * TILE_M + i;
    if (row < params.m) {
      let at = params.c_base + row * params.c_stride + column;
      let r = row_extremes[row];
      let extremes = column_extremes[column];
      if (needs_f32(c[at], r.x, r.y, extremes.x, extremes.y, params.depth)) {
        c[at] = product(row, column);
      }
    }
  }
}
