// counts[b] = the sum of column b of the rows of all devices.

struct Params {
  rows_base: u32,
  rows_stride: u32,
  rows_rows: u32,
  counts_base: u32,
  counts_length: u32,
}

@group(0) @binding(0) var<storage, read> rows: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn add_rows(
  @builtin(local_invocation_index) place: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let bin = (group.y * grid.x + group.x) * 64u + place;
  if (bin >= params.counts_length) {
    return;
  }
  var sum = 0u;
  for (var row = 0u; row < params.rows_rows; row++) {
    sum += rows[params.rows_base + row * params.rows_stride + bin];
  }
  counts[params.counts_base + bin] = sum;
}
