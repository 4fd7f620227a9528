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
