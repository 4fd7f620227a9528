// run: workgroups=1,1,1
// buffer a: i32[132] values(16909060, -16909061, 255, -128, 1000003, 7, -1)
// buffer c: i32[640] values(5, -7)
// buffer o: u32[8] values(4, 5, 0, 0, 3, 4, 513, 512)
// Matrices of bytes that just fit, and that reach one word past the end: 16 rows of 32 bytes, 32 columns of 16. The latter are zero, and are not stored.
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> c: array<i32>;
@group(0) @binding(2) var<storage, read> o: array<u32>;
alias Left = subgroup_matrix_left<i8, 32, 16>;
alias Right = subgroup_matrix_right<i8, 16, 32>;
var<workgroup> tile: array<i32, 132>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) thread: u32) {
  for (var i = thread; i < 132u; i += 32u) {
    tile[i] = a[i];
  }
  workgroupBarrier();
  // From word 4 on 128 words are left, from word 5 on one fewer.
  let fits = workgroupUniformLoad(&tile[0]) == 16909060;
  if (fits) {
    subgroupMatrixStore<row_major>(&c, 0u, subgroupMatrixLoad<Left, row_major>(&a, o[0], 8u), 8u);
    subgroupMatrixStore<row_major>(&c, 128u, subgroupMatrixLoad<Left, col_major>(&a, o[1], 4u), 8u);
    subgroupMatrixStore<row_major>(&c, 256u, subgroupMatrixLoad<Right, row_major>(&tile, o[0], o[4]), 4u);
    subgroupMatrixStore<col_major>(&c, 384u, subgroupMatrixLoad<Right, col_major>(&tile, o[1], 8u), 8u);
    subgroupMatrixStore<row_major>(&c, o[6], Right(77), o[5]);
    subgroupMatrixStore<col_major>(&c, o[7], Right(78), 8u);
  }
}
