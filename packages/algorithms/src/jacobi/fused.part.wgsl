// Four Jacobi sweeps in one pass over memory, with the bits of four plain ones: `u` is read once, `next` is the state four sweeps later.
//
// A workgroup takes a stripe of columns, one vector of four a thread, and marches down it. With each row that it loads it advances every
// sweep by one row, each one row behind the sweep before (a pipeline in time): thread registers hold the two rows that each sweep
// needs again, and workgroup memory passes the outermost cells of a vector to the threads beside it. Each sweep makes one more cell
// at both ends of the stripe stale; four of them are the first and the last vector, which are not stored. Above and below a strip
// of rows four rows are computed twice.
//
// `u` and `next` are laid out as the plain sweep has them, with at least four rows of halo above and below. Columns outside the block and rows
// outside [inner_first, inner_end) keep their value: they are the boundary of the grid.
struct Params {
  u_base: u32,
  u_stride: u32,
  next_base: u32,
  next_stride: u32,
  residual_base: u32,
  rows: u32,
  columns: u32,
  // Where the block's first cell is in the view `u`: rows down, vectors across.
  top: u32,
  lead: u32,
  strip: u32,
  // Rows of cells that sweeps change, counted from the block's first: below 0 where a block lies above.
  inner_first: i32,
  inner_end: i32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> u: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> next: array<vec4<f32>>;

const THREADS = 128u;
const SWEEPS = 4u;

// First and last cell of each thread's vector, for each sweep, for this row and the last one.
var<workgroup> edges: array<vec2<f32>, 2u * SWEEPS * THREADS>;

fn sweep(left: vec4<f32>, right: vec4<f32>, above: vec4<f32>, below: vec4<f32>) -> vec4<f32> {
  return 0.25 * (((left + right) + (above + below)) + vec4<f32>());
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let vectors = i32((params.columns + 3u) / 4u);
  // The stripe's first vector is stale, and lies before the block in the first stripe.
  let vector = i32(workgroup.x * (THREADS - 2u) + thread) - 1;
  let column = vector * 4;
  let cells = vec4<i32>(column, column + 1, column + 2, column + 3);
  let inside = (cells >= vec4<i32>(0)) & (cells < vec4<i32>(i32(params.columns)));
  let stored = thread > 0u && thread < THREADS - 1u && vector < vectors;
  let valid = u32(clamp(i32(params.columns) - column, 0, 4));
  // Past the block there is one vector, which may hold the right boundary.
  let at_vector = u32(i32(params.lead) + min(vector, vectors));
  let before = max(thread, 1u) - 1u;
  let after = min(thread + 1u, THREADS - 1u);

  let first = i32(workgroup.y * params.strip);
  let end = min(first + i32(params.strip), i32(params.rows));
  var change = 0u;
  var above_0 = vec4<f32>();
  var center_0 = vec4<f32>();
  var above_1 = vec4<f32>();
  var center_1 = vec4<f32>();
  var above_2 = vec4<f32>();
  var center_2 = vec4<f32>();
  var above_3 = vec4<f32>();
  var center_3 = vec4<f32>();
  var slot = 0u;
  // As a difference from the first inner row, a row before it is a large unsigned number: one comparison tells whether a row changes.
  let inner_rows = u32(max(params.inner_end - params.inner_first, 0));
  let rounds = end - first + 8;
  for (var round = 0; round < rounds; round++) {
    let row = first - 4 + round;
    let from_slot = slot * (SWEEPS * THREADS);
    let to_slot = (1u - slot) * (SWEEPS * THREADS);
    let state_0 = u[params.u_base + u32(i32(params.top) + row) * params.u_stride + at_vector];
    var state_1 = center_0;
    if (u32(row - 1 - params.inner_first) < inner_rows) {
      let left = vec4<f32>(edges[from_slot + 0u * THREADS + before].y, center_0.xyz);
      let right = vec4<f32>(center_0.yzw, edges[from_slot + 0u * THREADS + after].x);
      state_1 = select(center_0, sweep(left, right, above_0, state_0), inside);
    }
    var state_2 = center_1;
    if (u32(row - 2 - params.inner_first) < inner_rows) {
      let left = vec4<f32>(edges[from_slot + 1u * THREADS + before].y, center_1.xyz);
      let right = vec4<f32>(center_1.yzw, edges[from_slot + 1u * THREADS + after].x);
      state_2 = select(center_1, sweep(left, right, above_1, state_1), inside);
    }
    var state_3 = center_2;
    if (u32(row - 3 - params.inner_first) < inner_rows) {
      let left = vec4<f32>(edges[from_slot + 2u * THREADS + before].y, center_2.xyz);
      let right = vec4<f32>(center_2.yzw, edges[from_slot + 2u * THREADS + after].x);
      state_3 = select(center_2, sweep(left, right, above_2, state_2), inside);
    }
    var state_4 = center_3;
    if (u32(row - 4 - params.inner_first) < inner_rows) {
      let left = vec4<f32>(edges[from_slot + 3u * THREADS + before].y, center_3.xyz);
      let right = vec4<f32>(center_3.yzw, edges[from_slot + 3u * THREADS + after].x);
      state_4 = select(center_3, sweep(left, right, above_3, state_3), inside);
    }
    if (stored && row - 4 >= first) {
      let at = params.next_base + u32(row - 4) * params.next_stride + u32(vector);
      if (valid == 4u) {
        next[at] = state_4;
      } else {
        next[at].x = state_4.x;
        if (valid > 1u) {
          next[at].y = state_4.y;
        }
        if (valid > 2u) {
          next[at].z = state_4.z;
        }
      }
      change = observe(change, center_3, state_4, valid);
    }
    above_0 = center_0;
    center_0 = state_0;
    edges[to_slot + 0u * THREADS + thread] = vec2<f32>(state_0.x, state_0.w);
    above_1 = center_1;
    center_1 = state_1;
    edges[to_slot + 1u * THREADS + thread] = vec2<f32>(state_1.x, state_1.w);
    above_2 = center_2;
    center_2 = state_2;
    edges[to_slot + 2u * THREADS + thread] = vec2<f32>(state_2.x, state_2.w);
    above_3 = center_3;
    center_3 = state_3;
    edges[to_slot + 3u * THREADS + thread] = vec2<f32>(state_3.x, state_3.w);
    slot = 1u - slot;
    workgroupBarrier();
  }
  finish(change, thread);
}
