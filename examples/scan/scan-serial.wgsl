// One invocation does a whole block, without barriers: for adapters that run on the CPU, where barriers are slow.
const block_length = 256u;

struct SumParams { source_base: u32, source_length: u32, sums_base: u32, sums_length: u32 }
struct ScanParams {
  source_base: u32, source_length: u32, offsets_base: u32, offsets_length: u32, result_base: u32, inclusive: u32,
}

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read_write> result: array<u32>;
@group(0) @binding(4) var<uniform> sum_params: SumParams;
@group(0) @binding(5) var<uniform> scan_params: ScanParams;

/** sums[b] = the sum of block b of source. */
@compute @workgroup_size(64)
fn sum_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {
  let block = (group.x + group.y * grid.x) * 64u + lane;
  if (block >= sum_params.sums_length) { return; }
  let end = min((block + 1u) * block_length, sum_params.source_length);
  var sum = 0u;
  for (var i = block * block_length; i < end; i++) { sum += source[sum_params.source_base + i]; }
  sums[sum_params.sums_base + block] = sum;
}

/** result[i] = offsets[b] + the sum of block b of source up to element i, inclusive or exclusive. */
@compute @workgroup_size(64)
fn scan_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {
  let block = (group.x + group.y * grid.x) * 64u + lane;
  if (block >= scan_params.offsets_length) { return; }
  let end = min((block + 1u) * block_length, scan_params.source_length);
  var sum = offsets[scan_params.offsets_base + block];
  for (var i = block * block_length; i < end; i++) {
    let before = sum;
    sum += source[scan_params.source_base + i];
    result[scan_params.result_base + i] = select(before, sum, scan_params.inclusive == 1u);
  }
}
