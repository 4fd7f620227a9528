// run: workgroups=1,1,1
// buffer a: i32[512] values(-2139062144, 2139062143, 16909060, -16909061, 255, -128, 1000003, 0, -1)
// buffer b: u32[520] values(2155905152, 50462976, 4294967295, 8388736, 19088743, 2882400001, 7)
// buffer c: i32[1024] values(5, -7, 2147483647)
// buffer e: u32[704] values(4294967295)
// Products of bytes with signs, four in a word, whose sums in i32 wrap around: rows and columns of either majorness, from memory and from tiles.
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<i32>;
@group(0) @binding(3) var<storage, read_write> e: array<u32>;
alias Left = subgroup_matrix_left<i8, 32, 16>;
alias Right = subgroup_matrix_right<i8, 16, 32>;
alias Sum = subgroup_matrix_result<i32, 16, 16>;
var<workgroup> tile: array<vec4<u32>, 96>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) thread: u32) {
  for (var i = thread; i < 96u; i += 32u) {
    tile[i] = vec4<u32>(b[i * 4u], b[i * 4u + 1u], b[i * 4u + 2u], b[i * 4u + 3u]);
  }
  workgroupBarrier();
  // From memory: 16 rows of 32 bytes, 32 columns of 16; 32 rows of 16, 16 columns of 36 of which 32 count.
  let left = subgroupMatrixLoad<Left, row_major>(&a, 3u, 8u);
  let left_down = subgroupMatrixLoad<Left, col_major>(&a, 128u, 5u);
  let right = subgroupMatrixLoad<Right, row_major>(&b, 1u, 4u);
  let right_down = subgroupMatrixLoad<Right, col_major>(&b, 200u, 9u);
  // From workgroup memory, in elements of 16 bytes.
  let tile_left = subgroupMatrixLoad<Left, row_major>(&tile, 2u, 3u);
  let tile_left_down = subgroupMatrixLoad<Left, col_major>(&tile, 1u, 2u);
  let tile_right = subgroupMatrixLoad<Right, row_major>(&tile, 5u, 2u);
  let tile_right_down = subgroupMatrixLoad<Right, col_major>(&tile, 7u, 3u);

  var sum = subgroupMatrixLoad<Sum, col_major>(&c, 0u, 17u);
  sum = subgroupMatrixMultiplyAccumulate(left, right, sum);
  sum = subgroupMatrixMultiplyAccumulate(left_down, right_down, sum);
  sum = subgroupMatrixScalarMultiply(sum, 1000003);
  subgroupMatrixStore<row_major>(&c, 512u, sum, 16u);
  var other = subgroupMatrixMultiply<i32>(tile_left, tile_right_down);
  other = subgroupMatrixMultiplyAccumulate(tile_left_down, tile_right, other);
  other = subgroupMatrixMultiplyAccumulate(Left(-128), Right(127), subgroupMatrixScalarAdd(other, 2147483647));
  subgroupMatrixStore<col_major>(&c, 768u, subgroupMatrixScalarSubtract(other, -5), 16u);
  // Of bytes themselves, which wrap around.
  subgroupMatrixStore<row_major>(&e, 0u, subgroupMatrixScalarMultiply(left_down, 3), 8u);
  subgroupMatrixStore<col_major>(&e, 128u, subgroupMatrixScalarAdd(left, 200), 4u);
  subgroupMatrixStore<row_major>(&e, 256u, right_down, 5u);
  subgroupMatrixStore<col_major>(&e, 416u, subgroupMatrixScalarSubtract(tile_right, 77), 9u);
  subgroupMatrixStore<row_major>(&e, 576u, tile_left, 8u);
}
