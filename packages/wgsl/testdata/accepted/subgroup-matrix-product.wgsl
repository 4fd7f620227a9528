// run: workgroups=2,1,1
// buffer a: f16[4096] values(1, -2, 3, 0, 0.5, -1, 2, -3, 1.5, 4, -0.25)
// buffer b: f16[2048] values(2, 1, -1, 0, -3, 0.5, 3)
// buffer c: f32[2048]
// Each subgroup forms 16 x 16 of a product; every sum is exact in any order.
enable f16;
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<f16>;
@group(0) @binding(1) var<storage, read> b: array<f16>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_id) subgroup: u32) {
  let row = group.x * 16u;
  let column = subgroup * 16u;
  var sum: subgroup_matrix_result<f32, 16, 16>;
  for (var k = 0u; k < 32u; k += 16u) {
    let left = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&a, row * 32u + k, 32u);
    let right = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(&b, k * 64u + column, 64u);
    sum = subgroupMatrixMultiplyAccumulate(left, right, sum);
  }
  subgroupMatrixStore<row_major>(&c, row * 64u + column, sum, 64u);
}
