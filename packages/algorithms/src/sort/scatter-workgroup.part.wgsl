// For devices whose subgroups are not of 32: digits of four bits. An invocation takes eight keys that follow one another and counts them in 16
// counters of 16 bits, two in a word; the sums of the counters of all invocations before give each key its place.

var<workgroup> counters: array<u32, 2048>; // [word][invocation]; word w has digits w and w + 8
var<workgroup> next: array<u32, 16>;

fn half_of(word: u32, digit: u32) -> u32 {
  return (word >> (digit / 8u * 16u)) & 0xffffu;
}

@compute @workgroup_size(256)
fn scatter(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  if (place < 16u) {
    var start = counts[params.counts_base + place * params.ranges + group.x];
    for (var digit = 0u; digit < place; digit++) {
      start += totals[params.totals_base + digit];
    }
    next[place] = start;
  }
  let end = min((group.x + 1u) * params.range, params.keys_length);
  for (var tile = group.x * params.range; tile < end; tile += 2048u) {
    for (var word = 0u; word < 8u; word++) {
      counters[word * 256u + place] = 0u;
    }
    let first = tile + place * 8u;
    var own: array<u32, 8>;
    var ranks: array<u32, 8>;
    for (var k = 0u; k < 8u; k++) {
      if (first + k < end) {
        let key = encoded(bitcast<u32>(keys[params.keys_base + first + k]));
        let digit = digit_of(key);
        let at = digit % 8u * 256u + place;
        let word = counters[at];
        own[k] = key;
        ranks[k] = half_of(word, digit);
        counters[at] = word + (1u << (digit / 8u * 16u));
      }
    }
    var sums: array<u32, 8>;
    for (var word = 0u; word < 8u; word++) {
      sums[word] = counters[word * 256u + place];
    }
    workgroupBarrier();
    for (var distance = 1u; distance < 256u; distance *= 2u) {
      var below: array<u32, 8>;
      for (var word = 0u; word < 8u; word++) {
        let other = counters[word * 256u + max(place, distance) - distance];
        below[word] = select(0u, other, place >= distance);
      }
      workgroupBarrier();
      for (var word = 0u; word < 8u; word++) {
        sums[word] += below[word];
        counters[word * 256u + place] = sums[word];
      }
      workgroupBarrier();
    }
    for (var k = 0u; k < 8u; k++) {
      if (first + k < end) {
        let digit = digit_of(own[k]);
        let row = digit % 8u * 256u;
        let before = select(0u, half_of(counters[row + max(place, 1u) - 1u], digit), place >= 1u);
        let target_place = next[digit] + before + ranks[k];
        sorted[params.sorted_base + target_place] = bitcast<Key>(decoded(own[k]));
        if (has_values) {
          store_value(target_place, value_at(first + k));
        }
      }
    }
    workgroupBarrier();
    if (place < 16u) {
      next[place] += half_of(counters[place % 8u * 256u + 255u], place);
    }
    workgroupBarrier();
  }
}
