// run: workgroups=1,1,1
// buffer a: f16[512] values(1, -2, 3, 0, 0.5, -1, 2, -3, 1.5, 4, -0.25)
// buffer c: f32[2048]
// Matrices are operands of mma.sync; those in workgroup memory whose rows begin at multiples of 16 bytes come by ldmatrix.
enable f16;
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;
var<workgroup> tile: array<vec4<u32>, 96>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_id) subgroup: u32) {
  if (i < 64u) {
    tile[i / 2u * 3u + i % 2u] = a[i];
  }
  workgroupBarrier();
  let row = subgroup % 2u * 48u;
  let left = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile, row, 3u);
  var sums: array<subgroup_matrix_result<f32, 16, 16>, 2>;
  for (var j = 0u; j < 2u; j++) {
    let right = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile, j * 48u, 3u);
    sums[j] = subgroupMatrixMultiplyAccumulate(left, right, sums[j]);
    subgroupMatrixStore<row_major>(&c, (subgroup * 2u + j) * 256u, subgroupMatrixScalarMultiply(sums[j], 0.5), 16u);
  }
}
