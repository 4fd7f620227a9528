// A workgroup turns the counts of a digit into what comes before each range, and writes their total. Needs no more than the ranges of its digit.

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn starts(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let row = params.counts_base + group.x * params.ranges;
  let each = (params.ranges + 255u) / 256u;
  let first = min(place * each, params.ranges);
  let end = min(first + each, params.ranges);
  var own = 0u;
  for (var range = first; range < end; range++) {
    own += counts[row + range];
  }
  var sum = own;
  sums[place] = sum;
  workgroupBarrier();
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    let below = select(0u, sums[max(place, distance) - distance], place >= distance);
    workgroupBarrier();
    sum += below;
    sums[place] = sum;
    workgroupBarrier();
  }
  var before = sum - own;
  for (var range = first; range < end; range++) {
    let here = counts[row + range];
    counts[row + range] = before;
    before += here;
  }
  if (place == 255u) {
    totals[params.totals_base + group.x] = sum;
  }
}
