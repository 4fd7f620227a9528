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
