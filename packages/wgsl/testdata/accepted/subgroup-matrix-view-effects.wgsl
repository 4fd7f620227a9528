// The offset of a view that a matrix is loaded from or stored to is evaluated once.
// run: workgroups=1,1,1
// buffer memory: f32[1024] iota(1, 1)
// buffer sums: f32[320]
// buffer calls: u32[1]
enable chromium_experimental_subgroup_matrix;
requires buffer_view;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
@group(0) @binding(0) var<storage, read_write> memory: buffer;
@group(0) @binding(1) var<storage, read_write> sums: buffer;
@group(0) @binding(2) var<storage, read_write> calls: array<u32, 1>;

fn next(count: ptr<function, u32>) -> u32 {
  *count += 1u;
  return 64u * *count;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  var count = 0u;
  let sum = subgroupMatrixLoad<Sum, row_major>(bufferView<array<f32>>(&memory, next(&count)), 0u, 16u);
  subgroupMatrixStore<row_major>(bufferView<array<f32>>(&sums, next(&count)), 0u, sum, 16u);
  if (i == 0u) { calls[0] = count; }
}
