// run: workgroups=1,1,1
// buffer a: f16[4096] values(1, -2, 3, 0, 0.5, -1, 2, -3, 1.5, 4, -0.25)
// buffer c: f32[2048]
// buffer u: u32[512]
// buffer n: u32[1] values(1)
// Arrays with rows of 2, 4, 8 and 32 elements of 16 bytes, which translations to CUDA lay out swizzled, read as matrices and by elements; `mixed` is read with
// two strides, which keeps its layout. Every sum is exact in any order.
enable f16;
enable chromium_experimental_subgroup_matrix;
alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;
@group(0) @binding(2) var<storage, read_write> u: array<vec4<u32>>;
@group(0) @binding(3) var<uniform> n: u32;
var<workgroup> two: array<vec4<u32>, 128>;
var<workgroup> four: array<vec4<u32>, 128>;
var<workgroup> eight: array<vec4<u32>, 256>;
var<workgroup> many: array<vec4<u32>, 512>;
var<workgroup> mixed: array<vec4<u32>, 128>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_id) subgroup: u32) {
  two[i] = a[i];
  four[i] = a[i + 128u];
  mixed[i] = a[i + 3u];
  for (var e = 0u; e < 2u; e++) {
    eight[i + e * 128u] = a[i + e * 128u + 64u];
  }
  for (var e = 0u; e < 4u; e++) {
    many[i + 128u * e] = a[i + e * 96u];
  }
  workgroupBarrier();
  var sum: Sum;
  // Offsets at the begin of a row and inside one, known and not.
  sum = subgroupMatrixMultiplyAccumulate(
    subgroupMatrixLoad<Left, row_major>(&two, subgroup * 8u, 2u),
    subgroupMatrixLoad<Right, row_major>(&four, subgroup * 4u + 2u, 4u), sum);
  sum = subgroupMatrixMultiplyAccumulate(
    subgroupMatrixLoad<Left, col_major>(&eight, n * 3u, 8u),
    subgroupMatrixLoad<Right, col_major>(&eight, subgroup * 16u + n, 8u), sum);
  for (var k = 0u; k < 2u; k++) {
    sum = subgroupMatrixMultiplyAccumulate(
      subgroupMatrixLoad<Left, row_major>(&eight, k * 2u + (subgroup * 4u + k) * 8u, 8u),
      subgroupMatrixLoad<Right, row_major>(&many, k * 3u + subgroup * 7u, 32u), sum);
  }
  sum = subgroupMatrixMultiplyAccumulate(
    subgroupMatrixLoad<Left, row_major>(&mixed, n, 4u),
    subgroupMatrixLoad<Right, row_major>(&mixed, subgroup, 3u), sum);
  subgroupMatrixStore<row_major>(&c, subgroup * 256u, sum, 16u);
  u[i] = two[127u - i] + four[i ^ 5u] * 3u + eight[i * 2u] * 5u + many[511u - i * 3u] * 7u + mixed[i] * vec4<u32>(eight[i].y, 1u, 9u, 11u);
}
