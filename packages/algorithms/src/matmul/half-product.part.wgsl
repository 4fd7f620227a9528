// C = A · B of f16 with sums in f32, on tensor cores. Four subgroups make 128 × 128 of C, each 64 × 64. Two stages of 64 of k take turns: while one is
// multiplied, the other is on its way. All three matrices are padded with zeros to whole tiles, k to a multiple of 128.
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
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>;

const TILE_M = 128u;
const TILE_N = 128u;
// In elements of 16 bytes. One more than a row has spreads the rows over the banks.
const A_ROW = 9u;
const B_ROW = 17u;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
alias Sums = array<array<Sum, 4>, 4>;
alias TileA = array<vec4<u32>, 1152>;
alias TileB = array<vec4<u32>, 1088>;

var<workgroup> a0: TileA;
var<workgroup> b0: TileB;
var<workgroup> a1: TileA;
var<workgroup> b1: TileB;

// Multiplies one stage.
fn multiply(
  tile_a: ptr<workgroup, TileA>,
  tile_b: ptr<workgroup, TileB>,
  subgroup: u32,
  sums: ptr<function, Sums>,
) {
  for (var step = 0u; step < 4u; step++) {
    var left: array<Left, 4>;
    for (var i = 0u; i < 4u; i++) {
      let at = (subgroup % 4u / 2u * 64u + i * 16u) * A_ROW + step * 2u;
      left[i] = subgroupMatrixLoad<Left, row_major>(tile_a, at, A_ROW);
    }
    for (var j = 0u; j < 4u; j++) {
      let at = step * 16u * B_ROW + subgroup % 2u * 8u + j * 2u;
      let right = subgroupMatrixLoad<Right, row_major>(tile_b, at, B_ROW);
      for (var i = 0u; i < 4u; i++) {
        (*sums)[i][j] = subgroupMatrixMultiplyAccumulate(left[i], right, (*sums)[i][j]);
      }
    }
  }
}

@compute @workgroup_size(128)
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
  var sums: Sums;
  let a_slot = thread / 8u * A_ROW + thread % 8u;
  let b_slot = thread / 16u * B_ROW + thread % 16u;
  let a_from = params.a_base + (place.x * TILE_M + thread / 8u) * params.a_stride + thread % 8u;
  let b_from = params.b_base + thread / 16u * params.b_stride + place.y * (TILE_N / 8u) + thread % 16u;

  for (var i = 0u; i < 8u; i++) {
    a0[a_slot + i * 144u] = a[a_from + i * 16u * params.a_stride];
    b0[b_slot + i * 136u] = b[b_from + i * 8u * params.b_stride];
  }
  for (var k = 0u; k < params.k; k += 128u) {
    workgroupBarrier();
    for (var i = 0u; i < 8u; i++) {
      a1[a_slot + i * 144u] = a[a_from + k / 8u + 8u + i * 16u * params.a_stride];
      b1[b_slot + i * 136u] = b[b_from + (k + 64u + i * 8u) * params.b_stride];
    }
    multiply(&a0, &b0, subgroup, &sums);
    workgroupBarrier();
    // The last turn brings its own tiles once more, which nothing reads.
    let next = min(k + 128u, params.k - 128u);
    for (var i = 0u; i < 8u; i++) {
      a0[a_slot + i * 144u] = a[a_from + next / 8u + i * 16u * params.a_stride];
      b0[b_slot + i * 136u] = b[b_from + (next + i * 8u) * params.b_stride];
    }
    multiply(&a1, &b1, subgroup, &sums);
  }
  let row = place.x * TILE_M + subgroup % 4u / 2u * 64u;
  let column4 = place.y * (TILE_N / 4u) + subgroup % 2u * 16u;
  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 4u; j++) {
      let at = params.c_base + (row + i * 16u) * params.c_stride + column4 + j * 4u;
      subgroupMatrixStore<row_major>(&c, at, sums[i][j], params.c_stride);
    }
  }
}
