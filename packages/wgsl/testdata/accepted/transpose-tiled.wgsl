// run: workgroups=2,2,1
// buffer params: u32[4] values(50, 37, 37, 50)
// buffer source: f32[1850] iota(0, 1)
// buffer target_matrix: f32[1850]

struct Params { rows: u32, cols: u32, source_stride: u32, target_stride: u32, }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> target_matrix: array<f32>;
var<workgroup> tile: array<array<f32, 33>, 32>;

@compute @workgroup_size(32, 8)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u) {
  let x = group.x * 32u + local.x;
  for (var r = 0u; r < 32u; r += 8u) {
    let y = group.y * 32u + local.y + r;
    if x < params.cols && y < params.rows { tile[local.y + r][local.x] = source[y * params.source_stride + x]; }
  }
  workgroupBarrier();
  let tx = group.y * 32u + local.x;
  for (var r = 0u; r < 32u; r += 8u) {
    let ty = group.x * 32u + local.y + r;
    if tx < params.rows && ty < params.cols { target_matrix[ty * params.target_stride + tx] = tile[local.x][local.y + r]; }
  }
}
