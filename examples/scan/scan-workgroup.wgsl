// A workgroup does a block, one element an invocation, by way of workgroup memory: for GPUs.
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

var<workgroup> shared_sums: array<u32, 256>;

/** The sum of the values of all invocations up to this one (Hillis and Steele, Data parallel algorithms, 1986). */
fn scan_workgroup(lane: u32, value: u32) -> u32 {
  shared_sums[lane] = value;
  for (var step = 1u; step < block_length; step *= 2u) {
    workgroupBarrier();
    let other = select(0u, shared_sums[max(lane, step) - step], lane >= step);
    workgroupBarrier();
    shared_sums[lane] += other;
  }
  return shared_sums[lane];
}

/** sums[b] = the sum of block b of source. */
@compute @workgroup_size(256)
fn sum_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {
  let block = group.x + group.y * grid.x;
  let i = block * block_length + lane;
  var value = 0u;
  if (i < sum_params.source_length) { value = source[sum_params.source_base + i]; }
  let sum = scan_workgroup(lane, value);
  if (lane == block_length - 1u && block < sum_params.sums_length) { sums[sum_params.sums_base + block] = sum; }
}

/** result[i] = offsets[b] + the sum of block b of source up to element i, inclusive or exclusive. */
@compute @workgroup_size(256)
fn scan_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {
  let block = group.x + group.y * grid.x;
  let i = block * block_length + lane;
  let inside = i < scan_params.source_length;
  var value = 0u;
  if (inside) { value = source[scan_params.source_base + i]; }
  let sum = scan_workgroup(lane, value);
  if (!inside) { return; }
  let prefix = offsets[scan_params.offsets_base + block] + sum;
  result[scan_params.result_base + i] = select(prefix - value, prefix, scan_params.inclusive == 1u);
}
