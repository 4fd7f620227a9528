// A workgroup finds the next digit of one splitter, the key of a given rank among those of all devices: that digit below which fewer keys lie than
// the rank says, and up to which more do. The rest of the rank is that among the keys with this digit.

struct Params {
  counts_base: u32,
  /** Of one device: one row for all splitters, or one for each. */
  counts_stride: u32,
  counts_rows: u32,
  splitters_base: u32,
  rests_base: u32,
  /** The ranks of all splitters, for the first digit. */
  ranks: array<vec4<u32>, 4>,
  first: u32,
}

@group(0) @binding(0) var<storage, read> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> splitters: array<u32>;
@group(0) @binding(2) var<storage, read_write> rests: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(64)
fn select_pick(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let splitter = group.x;
  let row = select(splitter * 256u, 0u, params.first == 1u);
  for (var digit = place; digit < 256u; digit += 64u) {
    var sum = 0u;
    for (var device = 0u; device < params.counts_rows; device++) {
      sum += counts[params.counts_base + device * params.counts_stride + row + digit];
    }
    sums[digit] = sum;
  }
  workgroupBarrier();
  if (place == 0u) {
    var rest = rests[params.rests_base + splitter];
    var prefix = splitters[params.splitters_base + splitter];
    if (params.first == 1u) {
      rest = params.ranks[splitter / 4u][splitter % 4u];
      prefix = 0u;
    }
    var digit = 0u;
    while (digit < 255u && sums[digit] <= rest) {
      rest -= sums[digit];
      digit++;
    }
    rests[params.rests_base + splitter] = rest;
    splitters[params.splitters_base + splitter] = prefix * 256u + digit;
  }
}
