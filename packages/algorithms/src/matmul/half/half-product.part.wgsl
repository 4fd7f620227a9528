// C = A · B of f16 with sums in f32, on tensor cores. SUBGROUPS_DOWN × SUBGROUPS_ACROSS subgroups make a tile of C, each 64 × 64. Three stages of 64 of k
// take turns: while one is multiplied, the others are on their way. A subgroup has the operands of two steps of 16 of k: it loads those of the next step
// while it multiplies the others, also across the barrier between two stages. All three matrices are padded with zeros to whole tiles, k to a multiple of 128.
enable f16;
enable chromium_experimental_subgroup_matrix;

struct Params {
  // Filled in by core, in array elements of the binding.
  a_base: u32,
  a_stride: u32,
  b_base: u32,
  b_stride: u32,
  c_base: u32,
  c_stride: u32,
  m: u32,
  n: u32,
  k: u32,
  // Inner length of one part of a split K, a multiple of 128. Part z writes its tiles below those of the parts before it.
  k_chunk: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>;

const THREADS = 32u * SUBGROUPS_DOWN * SUBGROUPS_ACROSS;
const TILE_M = 64u * SUBGROUPS_DOWN;
const TILE_N = 64u * SUBGROUPS_ACROSS;
// In elements of 16 bytes; where there are asynchronous copies, the translation to CUDA spreads the rows over the banks.
const A_ROW = 8u;
const B_ROW = TILE_N / 8u;
// Rows that the workgroup copies at a time.
const A_ROWS = THREADS / 8u;
const B_ROWS = THREADS * 8u / TILE_N;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
alias Lefts = array<Left, 4>;
alias Rights = array<Right, 4>;
alias Sums = array<array<Sum, 4>, 4>;
alias TileA = array<vec4<u32>, TILE_M * A_ROW>;
alias TileB = array<vec4<u32>, 64u * B_ROW>;

var<workgroup> a0: TileA;
var<workgroup> b0: TileB;
var<workgroup> a1: TileA;
var<workgroup> b1: TileB;
var<workgroup> a2: TileA;
var<workgroup> b2: TileB;

// Loads a subgroup's operands of one step.
fn load_step(
  tile_a: ptr<workgroup, TileA>,
  tile_b: ptr<workgroup, TileB>,
  step: u32,
  subgroup: u32,
  left: ptr<function, Lefts>,
  right: ptr<function, Rights>,
) {
  for (var i = 0u; i < 4u; i++) {
    let row = subgroup / SUBGROUPS_ACROSS % SUBGROUPS_DOWN * 64u + i * 16u;
    (*left)[i] = subgroupMatrixLoad<Left, row_major>(tile_a, row * A_ROW + step * 2u, A_ROW);
  }
  for (var j = 0u; j < 4u; j++) {
    let column8 = subgroup % SUBGROUPS_ACROSS * 8u + j * 2u;
    (*right)[j] = subgroupMatrixLoad<Right, row_major>(tile_b, step * 16u * B_ROW + column8, B_ROW);
  }
}

fn multiply(left: ptr<function, Lefts>, right: ptr<function, Rights>, sums: ptr<function, Sums>) {
  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 4u; j++) {
      (*sums)[i][j] = subgroupMatrixMultiplyAccumulate((*left)[i], (*right)[j], (*sums)[i][j]);
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let place = tile_place(workgroup.y * workgroups.x + workgroup.x);
  if (place.x * TILE_M >= params.m) {
    return;
  }
  let start = workgroup.z * params.k_chunk;
  let end = min(start + params.k_chunk, params.k);
  let last = end - 64u;
  var sums: Sums;
  var left0: Lefts;
  var left1: Lefts;
  var right0: Rights;
  var right1: Rights;
  let a_slot = thread / 8u * A_ROW + thread % 8u;
  let b_slot = thread / (TILE_N / 8u) * B_ROW + thread % (TILE_N / 8u);
  let a_from = params.a_base + (place.x * TILE_M + thread / 8u) * params.a_stride + thread % 8u;
  let b_from = params.b_base + thread / (TILE_N / 8u) * params.b_stride + place.y * (TILE_N / 8u) + thread % (TILE_N / 8u);

  for (var i = 0u; i < TILE_M / A_ROWS; i++) {
    a0[a_slot + i * A_ROWS * A_ROW] = a[a_from + start / 8u + i * A_ROWS * params.a_stride];
  }
  for (var i = 0u; i < 64u / B_ROWS; i++) {
    b0[b_slot + i * B_ROWS * B_ROW] = b[b_from + (start + i * B_ROWS) * params.b_stride];
  }
  let second = min(start + 64u, last);
  for (var i = 0u; i < TILE_M / A_ROWS; i++) {
    a1[a_slot + i * A_ROWS * A_ROW] = a[a_from + second / 8u + i * A_ROWS * params.a_stride];
  }
  for (var i = 0u; i < 64u / B_ROWS; i++) {
    b1[b_slot + i * B_ROWS * B_ROW] = b[b_from + (second + i * B_ROWS) * params.b_stride];
  }
  workgroupBarrier();
  load_step(&a0, &b0, 0u, subgroup, &left0, &right0);
  for (var k = start; ; k += 192u) {
    // Past the end the last stage is brought once more, which nothing multiplies.
    let third = min(k + 128u, last);
    for (var i = 0u; i < TILE_M / A_ROWS; i++) {
      a2[a_slot + i * A_ROWS * A_ROW] = a[a_from + third / 8u + i * A_ROWS * params.a_stride];
    }
    for (var i = 0u; i < 64u / B_ROWS; i++) {
      b2[b_slot + i * B_ROWS * B_ROW] = b[b_from + (third + i * B_ROWS) * params.b_stride];
    }
    load_step(&a0, &b0, 1u, subgroup, &left1, &right1);
    multiply(&left0, &right0, &sums);
    load_step(&a0, &b0, 2u, subgroup, &left0, &right0);
    multiply(&left1, &right1, &sums);
    load_step(&a0, &b0, 3u, subgroup, &left1, &right1);
    multiply(&left0, &right0, &sums);
    workgroupBarrier();
    load_step(&a1, &b1, 0u, subgroup, &left0, &right0);
    multiply(&left1, &right1, &sums);
    if (k + 64u >= end) {
      break;
    }
    let fourth = min(k + 192u, last);
    for (var i = 0u; i < TILE_M / A_ROWS; i++) {
      a0[a_slot + i * A_ROWS * A_ROW] = a[a_from + fourth / 8u + i * A_ROWS * params.a_stride];
    }
    for (var i = 0u; i < 64u / B_ROWS; i++) {
      b0[b_slot + i * B_ROWS * B_ROW] = b[b_from + (fourth + i * B_ROWS) * params.b_stride];
    }
    load_step(&a1, &b1, 1u, subgroup, &left1, &right1);
    multiply(&left0, &right0, &sums);
    load_step(&a1, &b1, 2u, subgroup, &left0, &right0);
    multiply(&left1, &right1, &sums);
    load_step(&a1, &b1, 3u, subgroup, &left1, &right1);
    multiply(&left0, &right0, &sums);
    workgroupBarrier();
    load_step(&a2, &b2, 0u, subgroup, &left0, &right0);
    multiply(&left1, &right1, &sums);
    if (k + 128u >= end) {
      break;
    }
    let fifth = min(k + 256u, last);
    for (var i = 0u; i < TILE_M / A_ROWS; i++) {
      a1[a_slot + i * A_ROWS * A_ROW] = a[a_from + fifth / 8u + i * A_ROWS * params.a_stride];
    }
    for (var i = 0u; i < 64u / B_ROWS; i++) {
      b1[b_slot + i * B_ROWS * B_ROW] = b[b_from + (fifth + i * B_ROWS) * params.b_stride];
    }
    load_step(&a2, &b2, 1u, subgroup, &left1, &right1);
    multiply(&left0, &right0, &sums);
    load_step(&a2, &b2, 2u, subgroup, &left0, &right0);
    multiply(&left1, &right1, &sums);
    load_step(&a2, &b2, 3u, subgroup, &left1, &right1);
    multiply(&left0, &right0, &sums);
    workgroupBarrier();
    load_step(&a0, &b0, 0u, subgroup, &left0, &right0);
    multiply(&left1, &right1, &sums);
    if (k + 192u >= end) {
      break;
    }
  }
  let down = (params.m + TILE_M - 1u) / TILE_M;
  let row = (workgroup.z * down + place.x) * TILE_M + subgroup / SUBGROUPS_ACROSS % SUBGROUPS_DOWN * 64u;
  let column4 = place.y * (TILE_N / 4u) + subgroup % SUBGROUPS_ACROSS * 16u;
  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 4u; j++) {
      let at = params.c_base + (row + i * 16u) * params.c_stride + column4 + j * 4u;
      subgroupMatrixStore<row_major>(&c, at, sums[i][j], params.c_stride);
    }
  }
}
