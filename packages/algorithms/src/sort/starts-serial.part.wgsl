// An invocation turns the counts of a digit into what comes before each range, and writes their total.

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(1)
fn starts(@builtin(workgroup_id) group: vec3<u32>) {
  let row = params.counts_base + group.x * params.ranges;
  var before = 0u;
  for (var range = 0u; range < params.ranges; range++) {
    let here = counts[row + range];
    counts[row + range] = before;
    before += here;
  }
  totals[params.totals_base + group.x] = before;
}
