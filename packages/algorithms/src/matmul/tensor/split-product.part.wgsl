// C = A · B in f32 from f16 parts, on tensor cores: high · high + (high · low + low · high) · 2^-11. Tensor cores do not round: they cut every product
// and every sum off at a place that follows from the magnitude of the sum. So products of high parts are summed over a window of k only; the sums of a
// window go through workgroup memory to the invocations, which add them in f32. To keep sums of positive products small as well, a window begins with
// the negated sums of the one before it, and the first window is half as long: sums run from -S/2 to S/2, not from 0 to S, and the invocations add
// them twice. Sums of both signs would grow from window to window in this way, so each third window is followed by one that begins with zeros, as the
// first did. The order of all sums of an element follows from k alone, so its bits do not depend on where in C, or on which device, it is.
//
// Four subgroups make 64 × 128 of C, each 64 × 32. Two stages of 32 of k take turns: while one is multiplied, the other is on its way.

const TILE_M = 64u;
const TILE_N = 128u;
// In elements of 16 bytes; where there are asynchronous copies, the translation to CUDA spreads the rows of A and B over the banks.
const A_ROW = 4u;
const B_ROW = 16u;
const SUM_ROW = 34u;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
alias Sums = array<array<Sum, 2>, 4>;

// Of four rows of the tile, and each fourth row after them, four columns.
alias Own = array<vec4<f32>, 16>;

alias TileA = array<vec4<u32>, 256>;
alias TileB = array<vec4<u32>, 512>;

var<workgroup> a0_high: TileA;
var<workgroup> a0_low: TileA;
var<workgroup> b0_high: TileB;
var<workgroup> b0_low: TileB;
var<workgroup> a1_high: TileA;
var<workgroup> a1_low: TileA;
var<workgroup> b1_high: TileB;
var<workgroup> b1_low: TileB;
var<workgroup> window_sums: array<vec4<f32>, 2176>;

// Multiplies one stage. `column` is the subgroup's first column in the tile of B.
fn multiply(
  a_high: ptr<workgroup, TileA>,
  a_low: ptr<workgroup, TileA>,
  b_high: ptr<workgroup, TileB>,
  b_low: ptr<workgroup, TileB>,
  subgroup: u32,
  sums: ptr<function, Sums>,
  corrections: ptr<function, Sums>,
) {
  for (var step = 0u; step < 2u; step++) {
    var high: array<Right, 2>;
    var low: array<Right, 2>;
    for (var j = 0u; j < 2u; j++) {
      let column8 = subgroup % 4u * 4u + j * 2u;
      high[j] = subgroupMatrixLoad<Right, row_major>(b_high, step * 16u * B_ROW + column8, B_ROW);
      low[j] = subgroupMatrixLoad<Right, row_major>(b_low, step * 16u * B_ROW + column8, B_ROW);
    }
    for (var i = 0u; i < 4u; i++) {
      let left_high = subgroupMatrixLoad<Left, row_major>(a_high, i * 16u * A_ROW + step * 2u, A_ROW);
      let left_low = subgroupMatrixLoad<Left, row_major>(a_low, i * 16u * A_ROW + step * 2u, A_ROW);
      for (var j = 0u; j < 2u; j++) {
        (*sums)[i][j] = subgroupMatrixMultiplyAccumulate(left_high, high[j], (*sums)[i][j]);
        (*corrections)[i][j] = subgroupMatrixMultiplyAccumulate(left_high, low[j], (*corrections)[i][j]);
      }
      for (var j = 0u; j < 2u; j++) {
        (*corrections)[i][j] = subgroupMatrixMultiplyAccumulate(left_low, high[j], (*corrections)[i][j]);
      }
    }
  }
}

// Hands a subgroup's sums to the invocations.
fn put(sums: ptr<function, Sums>, subgroup: u32) {
  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 2u; j++) {
      let at = i * 16u * SUM_ROW + subgroup % 4u * 8u + j * 4u;
      subgroupMatrixStore<row_major>(&window_sums, at, (*sums)[i][j], SUM_ROW);
    }
  }
}

// Hands the sums of the window that ends at `end` to the invocations, and negates or clears them. Says how often the invocations are to add them.
fn end_window(sums: ptr<function, Sums>, subgroup: u32, end: u32) -> f32 {
  put(sums, subgroup);
  let is_third = end % (params.first_window + 2u * params.window) == 0u;
  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 2u; j++) {
      (*sums)[i][j] = subgroupMatrixScalarMultiply((*sums)[i][j], select(-1.0, 0.0, is_third));
    }
  }
  return select(2.0, 1.0, is_third);
}

// Adds what the subgroups have put to an invocation's sums.
fn add(own: ptr<function, Own>, slot: u32, times: f32) {
  for (var e = 0u; e < 16u; e++) {
    (*own)[e] += times * window_sums[slot + e * 136u];
  }
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let tile = workgroup.y * workgroups.x + workgroup.x;
  let place = tile_place(tile);
  if (place.x * TILE_M >= params.m) {
    return;
  }
  var sums: Sums;
  var corrections: Sums;
  var own: Own;

  let a_slot = thread / 4u * A_ROW + thread % 4u;
  let b_slot = thread / 16u * B_ROW + thread % 16u;
  let a_from = params.a_base + (place.x * TILE_M + thread / 4u) * params.a_stride + thread % 4u;
  let b_from = params.b_base + thread / 16u * params.b_stride + place.y * (TILE_N / 8u) + thread % 16u;
  let own_slot = thread / 32u * SUM_ROW + thread % 32u;

  for (var i = 0u; i < 2u; i++) {
    a0_high[a_slot + i * 128u] = a[a_from + i * 32u * params.a_stride];
    a0_low[a_slot + i * 128u] = a[a_from + params.a_low + i * 32u * params.a_stride];
  }
  for (var i = 0u; i < 4u; i++) {
    b0_high[b_slot + i * 128u] = b[b_from + i * 8u * params.b_stride];
    b0_low[b_slot + i * 128u] = b[b_from + params.b_low + i * 8u * params.b_stride];
  }
  var end = params.first_window;
  // How often the invocations are to add what the subgroups have put.
  var times = 0.0;
  for (var k = 0u; k < params.k; k += 64u) {
    workgroupBarrier();
    for (var i = 0u; i < 2u; i++) {
      a1_high[a_slot + i * 128u] = a[a_from + k / 8u + 4u + i * 32u * params.a_stride];
      a1_low[a_slot + i * 128u] = a[a_from + params.a_low + k / 8u + 4u + i * 32u * params.a_stride];
    }
    for (var i = 0u; i < 4u; i++) {
      b1_high[b_slot + i * 128u] = b[b_from + (k + 32u + i * 8u) * params.b_stride];
      b1_low[b_slot + i * 128u] = b[b_from + params.b_low + (k + 32u + i * 8u) * params.b_stride];
    }
    if (times > 0.0) {
      add(&own, own_slot, times);
    }
    multiply(&a0_high, &a0_low, &b0_high, &b0_low, subgroup, &sums, &corrections);
    times = 0.0;
    if (k + 32u == end) {
      // The sums of the window before may still be read, where this one is of a single stage.
      workgroupBarrier();
      times = end_window(&sums, subgroup, end);
      end += select(params.window, params.first_window, times == 1.0);
    }
    workgroupBarrier();
    // The last turn brings its own tiles once more, which nothing reads.
    let next = min(k + 64u, params.k - 64u);
    for (var i = 0u; i < 2u; i++) {
      a0_high[a_slot + i * 128u] = a[a_from + next / 8u + i * 32u * params.a_stride];
      a0_low[a_slot + i * 128u] = a[a_from + params.a_low + next / 8u + i * 32u * params.a_stride];
    }
    for (var i = 0u; i < 4u; i++) {
      b0_high[b_slot + i * 128u] = b[b_from + (next + i * 8u) * params.b_stride];
      b0_low[b_slot + i * 128u] = b[b_from + params.b_low + (next + i * 8u) * params.b_stride];
    }
    if (times > 0.0) {
      add(&own, own_slot, times);
    }
    multiply(&a1_high, &a1_low, &b1_high, &b1_low, subgroup, &sums, &corrections);
    times = 0.0;
    if (k + 64u == end && end < params.k) {
      workgroupBarrier();
      times = end_window(&sums, subgroup, end);
      end += select(params.window, params.first_window, times == 1.0);
    }
  }
  workgroupBarrier();
  put(&sums, subgroup);
  workgroupBarrier();
  add(&own, own_slot, 1.0);
  workgroupBarrier();
  put(&corrections, subgroup);
  workgroupBarrier();

  let column4 = place.y * (TILE_N / 4u) + thread % 32u;
  if (column4 * 4u >= params.n) {
    return;
  }
  let c0 = column_extremes[column4 * 4u];
  let c1 = column_extremes[column4 * 4u + 1u];
  let c2 = column_extremes[column4 * 4u + 2u];
  let c3 = column_extremes[column4 * 4u + 3u];
  let column_exponents = vec4<i32>(exponent_of(c0.x), exponent_of(c1.x), exponent_of(c2.x), exponent_of(c3.x));
  let valid = min(params.n - column4 * 4u, 4u);
  var flagged = 0u;
  for (var e = 0u; e < 16u; e++) {
    let row = place.x * TILE_M + thread / 32u + e * 4u;
    if (row < params.m) {
      let r = row_extremes[row];
      // Two factors, each of which is a normal number.
      let exponents = column_exponents + vec4<i32>(exponent_of(r.x) - 28);
      let half = exponents >> vec4<u32>(1u);
      let sum = own[e] + window_sums[own_slot + e * 136u] * (1.0 / 2048.0);
      let value = sum * power(half) * power(exponents - half);
      flagged += u32(needs_f32(value.x, r.x, r.y, c0.x, c0.y, params.depth));
      flagged += u32(valid > 1u && needs_f32(value.y, r.x, r.y, c1.x, c1.y, params.depth));
      flagged += u32(valid > 2u && needs_f32(value.z, r.x, r.y, c2.x, c2.y, params.depth));
      flagged += u32(valid > 3u && needs_f32(value.w, r.x, r.y, c3.x, c3.y, params.depth));
      store_4(row, column4, value);
    }
  }
  if (flagged > 0u) {
    atomicAdd(&flags[tile], flagged);
  }
}

fn power(exponent: vec4<i32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(clamp(exponent, vec4<i32>(-126), vec4<i32>(127)) + 127) << vec4<u32>(23u));
}
