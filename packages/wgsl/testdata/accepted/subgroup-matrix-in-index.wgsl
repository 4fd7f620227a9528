// run: workgroups=1,1,1
// buffer c: f32[256]
// An index loads a matrix and stores it elsewhere.
enable chromium_experimental_subgroup_matrix;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
@group(0) @binding(0) var<storage, read_write> c: array<f32>;
var<workgroup> tile: array<f32, 512>;

fn copy(m: Sum) -> u32 {
  subgroupMatrixStore<row_major>(&tile, 256u, m, 16u);
  workgroupBarrier();
  return 256u;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) thread: u32) {
  for (var i = thread; i < 256u; i += 32u) {
    tile[i] = f32(i);
  }
  workgroupBarrier();
  c[thread] = tile[thread + copy(subgroupMatrixLoad<Sum, row_major>(&tile, 0u, 16u))];
}
