// run: workgroups=1,1,1 constants=scale:3
// buffer a: f16[256] values(1, -2, 3, 0, 2, -1, 0.5)
// buffer c: f32[2304]
// Matrices in arrays, structures, parameters and results; fills, and operations with a scalar.
enable f16;
enable chromium_experimental_subgroup_matrix;
alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
struct Pair { count: u32, sums: array<Sum, 2> }
override scale: f32 = 1;
@group(0) @binding(0) var<storage, read> a: array<f16>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;

fn load(at: u32) -> Left {
  return subgroupMatrixLoad<Left, row_major>(&a, at, 16u);
}

fn add(pair: ptr<function, Pair>, left: Left, right: Right) {
  for (var i = 0u; i < 2u; i++) {
    (*pair).sums[i] = subgroupMatrixMultiplyAccumulate(left, right, (*pair).sums[i]);
  }
  (*pair).count += 1u;
}

@compute @workgroup_size(128, 2)
fn main(@builtin(subgroup_id) subgroup: u32) {
  var pair = Pair(0u, array(Sum(), Sum(scale)));
  let right = Right(0.5);
  add(&pair, load(0u), right);
  add(&pair, subgroupMatrixScalarMultiply(load(0u), 2), subgroupMatrixScalarSubtract(right, 1));
  let pairs = pair.sums;
  var grid: array<array<Sum, 2>, 2>;
  for (var i = 0; i < 2; i++) {
    for (var j = 0; j < 2; j++) {
      grid[i][j] = subgroupMatrixScalarAdd(pairs[j], f32(i) * scale);
    }
  }
  grid[1] = grid[0];
  grid[0][1] = subgroupMatrixScalarSubtract(grid[0][0], f32(pair.count));
  if (subgroup == 1) {
    for (var i = 0u; i < 2u; i++) {
      for (var j = 0u; j < 2u; j++) {
        subgroupMatrixStore<row_major>(&c, (i * 2u + j) * 256u, grid[i][j], 16u);
      }
      subgroupMatrixStore<col_major>(&c, (4u + i) * 256u, pair.sums[i], 16u);
    }
    let other = Sum(f32(subgroup) + 0.25);
    var last: array<Sum, 3>;
    last[pair.count] = other;
    subgroupMatrixStore<row_major>(&c, 6u * 256u, last[1], 16u);
    subgroupMatrixStore<row_major>(&c, 7u * 256u, last[2], 16u);
    subgroupMatrixStore<row_major>(&c, 8u * 256u, array<Sum, 2>()[1], 16u);
  }
}
