// run: workgroups=1,1,1
// buffer a: f16[512] values(1, -2, 3, 0, 0.5, -1, 2, -3, 1.5, 4, -0.25)
// buffer c: f32[1536]
// buffer h: f16[2048]
// Rows or columns one after another, from arrays of every element, to workgroup memory and storage.
enable f16;
enable chromium_experimental_subgroup_matrix;
alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;
@group(0) @binding(2) var<storage, read_write> h: array<f16>;
var<workgroup> wide: array<vec4<u32>, 80>;
var<workgroup> words: array<u32, 192>;
var<workgroup> halves: array<vec2<f16>, 192>;
var<workgroup> sums: array<vec2f, 320>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_id) subgroup: u32) {
  if (i < 32u) {
    wide[i / 2u * 3u + i % 2u] = a[i];
    for (var e = 0u; e < 4u; e++) {
      let word = a[i][e];
      words[i / 2u * 9u + i % 2u * 4u + e] = word;
      halves[i / 2u * 9u + i % 2u * 4u + e] = bitcast<vec2<f16>>(word);
    }
  }
  workgroupBarrier();
  let rowsWide = subgroupMatrixLoad<Left, row_major>(&wide, 0, 3);
  let columnsWide = subgroupMatrixLoad<Left, col_major>(&wide, 0, 3);
  let rightRowsWide = subgroupMatrixLoad<Right, row_major>(&wide, 0, 3);
  let rightColumnsWide = subgroupMatrixLoad<Right, col_major>(&wide, 0, 3);
  let rowsWords = subgroupMatrixLoad<Left, row_major>(&words, 0, 9);
  let columnsWords = subgroupMatrixLoad<Left, col_major>(&words, 0, 9);
  let rightRowsHalves = subgroupMatrixLoad<Right, row_major>(&halves, 0, 9);
  let rightColumnsHalves = subgroupMatrixLoad<Right, col_major>(&halves, 0, 9);
  let first = subgroupMatrixMultiply<f32>(rowsWide, rightColumnsHalves);
  let second = subgroupMatrixMultiply<f32>(columnsWide, rightRowsHalves);
  let third = subgroupMatrixMultiply<f32>(rowsWords, rightRowsWide);
  let fourth = subgroupMatrixMultiply<f32>(columnsWords, rightColumnsWide);
  if (subgroup == 0) {
    subgroupMatrixStore<row_major>(&c, 0, first, 16);
    subgroupMatrixStore<col_major>(&c, 256, second, 16);
    subgroupMatrixStore<row_major>(&c, 512, third, 16);
    subgroupMatrixStore<col_major>(&c, 768, fourth, 16);
    subgroupMatrixStore<row_major>(&h, 0, rowsWide, 16);
    subgroupMatrixStore<col_major>(&h, 256, rowsWide, 16);
    subgroupMatrixStore<row_major>(&h, 512, rightColumnsWide, 16);
    subgroupMatrixStore<col_major>(&h, 768, rightRowsHalves, 16);
    subgroupMatrixStore<row_major>(&sums, 0, third, 10);
  }
  workgroupBarrier();
  let again = subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, row_major>(&sums, 0, 10);
  let turned = subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, col_major>(&sums, 1, 9);
  if (subgroup == 1) {
    subgroupMatrixStore<row_major>(&c, 1024, again, 16);
    subgroupMatrixStore<row_major>(&c, 1280, turned, 16);
  }
}
