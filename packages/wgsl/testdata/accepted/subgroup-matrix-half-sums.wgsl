// run: workgroups=1,1,1
// buffer a: f16[256] values(1, -2, 3, 0, 2, -1)
// buffer c: f16[1024] values(1, 2, 3, 4, 5)
// Sums in f16: small integers, which are exact.
enable f16;
enable chromium_experimental_subgroup_matrix;
alias Sum = subgroup_matrix_result<f16, 16, 16>;
@group(0) @binding(0) var<storage, read> a: array<f16, 256>;
@group(0) @binding(1) var<storage, read_write> c: array<vec4<f16>>;

@compute @workgroup_size(128)
fn main(@builtin(subgroup_id) subgroup: u32) {
  let left = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&a, 0, 16);
  let right = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&a, 0, 16);
  let before = subgroupMatrixLoad<Sum, row_major>(&c, subgroup * 64u, 4);
  let sum = subgroupMatrixMultiplyAccumulate(left, right, before);
  let product = subgroupMatrixMultiply<f16>(left, right);
  if (subgroup == 0) {
    subgroupMatrixStore<row_major>(&c, 0, sum, 4);
  } else if (subgroup == 1) {
    subgroupMatrixStore<col_major>(&c, 64, product, 4);
  } else {
    subgroupMatrixStore<row_major>(&c, subgroup * 64u, subgroupMatrixScalarMultiply(before, 3), 4);
  }
}
