//// count
// counts[digit][range]: for adapters that run on the CPU, an invocation counts the digits of a range.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(1)
fn count(@builtin(workgroup_id) group: vec3<u32>) {
  var bins: array<u32, DIGITS>;
  let end = min((group.x + 1u) * params.range, params.keys_length);
  for (var at = group.x * params.range; at < end; at++) {
    bins[digit_of(encoded(bitcast<u32>(keys[params.keys_base + at])))]++;
  }
  for (var digit = 0u; digit < DIGITS; digit++) {
    counts[params.counts_base + digit * params.ranges + group.x] = bins[digit];
  }
}
//// starts
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
//// select
// As in workgroup.part.wgsl, for adapters that run on the CPU.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read> splitters: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(1)
fn select_count(@builtin(workgroup_id) group: vec3<u32>) {
  let count = params.counts_length / 256u;
  let end = min((group.x + 1u) * params.range, params.keys_length);
  for (var at = group.x * params.range; at < end; at++) {
    let key = encoded(bitcast<u32>(keys[params.keys_base + at]));
    for (var k = 0u; k < count; k++) {
      if (params.shift == 24u || key >> ((params.shift + 8u) & 31u) == splitters[params.splitters_base + k]) {
        atomicAdd(&counts[params.counts_base + k * 256u + ((key >> params.shift) & 255u)], 1u);
      }
    }
  }
}
//// scatter
// For adapters that run on the CPU: an invocation moves the keys of a range, one after another.

@compute @workgroup_size(1)
fn scatter(@builtin(workgroup_id) group: vec3<u32>) {
  var next: array<u32, DIGITS>;
  var before = 0u;
  for (var digit = 0u; digit < DIGITS; digit++) {
    next[digit] = before + counts[params.counts_base + digit * params.ranges + group.x];
    before += totals[params.totals_base + digit];
  }
  let end = min((group.x + 1u) * params.range, params.keys_length);
  for (var at = group.x * params.range; at < end; at++) {
    let key = encoded(bitcast<u32>(keys[params.keys_base + at]));
    let digit = digit_of(key);
    let place = next[digit];
    next[digit] = place + 1u;
    sorted[params.sorted_base + place] = bitcast<Key>(decoded(key));
    if (has_values) {
      store_value(place, value_at(at));
    }
  }
}
