// run: workgroups=1,1,1
// buffer at: u32[8] values(0, 1, 240, 241, 4294967295, 16, 8, 4294967280)
// buffer a: f16[512] values(1, -2, 3, 0, 2, -1, 0.5)
// buffer c: f32[1536] values(7)
// A matrix of which any part is outside of the array loads as zeros and stores nothing; a small stride counts as a row.
enable f16;
enable chromium_experimental_subgroup_matrix;
alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
struct Rest { head: vec4u, tail: array<f32> }
@group(0) @binding(0) var<storage, read> at: array<u32, 8>;
@group(0) @binding(1) var<storage, read> a: array<f16>;
@group(0) @binding(2) var<storage, read_write> c: Rest;
var<workgroup> w: array<array<f32, 256>, 2>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_id) subgroup: u32) {
  for (var e = i; e < 256u; e += 128u) {
    w[0][e] = f32(e);
    w[1][e] = f32(e) + 0.5;
  }
  workgroupBarrier();
  let one = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&a, 0, 16);
  for (var n = 0u; n < 8u; n++) {
    let left = subgroupMatrixLoad<Left, row_major>(&a, at[n], 16u);
    let wrapped = subgroupMatrixLoad<Left, row_major>(&a, i32(at[n]), 16);
    let raised = subgroupMatrixLoad<Left, col_major>(&a, 0u, at[n]);
    let inner = subgroupMatrixLoad<Sum, row_major>(&w[at[n]], 0u, at[5] + at[0]);
    let outer = subgroupMatrixLoad<Sum, row_major>(&w[1], at[n], 16u);
    var sum = subgroupMatrixMultiplyAccumulate(left, one, outer);
    sum = subgroupMatrixMultiplyAccumulate(wrapped, one, sum);
    sum = subgroupMatrixMultiplyAccumulate(raised, one, sum);
    if (subgroup == 1) {
      subgroupMatrixStore<row_major>(&c.tail, at[n] * 2u, sum, 32u);
      subgroupMatrixStore<col_major>(&c.tail, at[n] + 1024u, inner, at[0]);
    }
    workgroupBarrier();
    if (subgroup == 0 && n == 3u) {
      subgroupMatrixStore<row_major>(&w[0], at[n], sum, 16u);
      subgroupMatrixStore<row_major>(&w[0], at[n] - 241u, subgroupMatrixScalarAdd(outer, 1), at[0]);
    }
    workgroupBarrier();
  }
}
