// run: workgroups=1,1,1
// buffer c: f32[256]
// An operand of the load assigns the whole array; the load sees the new elements.
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read_write> c: array<f32>;
var<workgroup> tile: array<f32, 256>;

fn replace(thread: u32) -> u32 {
  if thread == 0u {
    var all: array<f32, 256>;
    for (var i = 0u; i < 256u; i++) {
      all[i] = f32(i);
    }
    tile = all;
  }
  workgroupBarrier();
  return 0u;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) thread: u32) {
  let m = subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, row_major>(&tile, replace(thread), 16u);
  subgroupMatrixStore<row_major>(&c, 0u, m, 16u);
}
