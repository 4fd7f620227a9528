//// count
// counts[digit][range]: a workgroup counts the digits of a range, in four copies.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> bins: array<atomic<u32>, 1024>;

fn add(row: u32, bits: Key) {
  atomicAdd(&bins[row + digit_of(encoded(bitcast<u32>(bits)))], 1u);
}

@compute @workgroup_size(256)
fn count(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let row = place / 64u * 256u;
  let start = group.x * params.range;
  let end = min(start + params.range, params.keys_length);
  var at = start + place;
  for (; at + 1792u < end; at += 2048u) {
    let first = params.keys_base + at;
    let a = keys[first];
    let b = keys[first + 256u];
    let c = keys[first + 512u];
    let d = keys[first + 768u];
    let e = keys[first + 1024u];
    let f = keys[first + 1280u];
    let g = keys[first + 1536u];
    let h = keys[first + 1792u];
    add(row, a);
    add(row, b);
    add(row, c);
    add(row, d);
    add(row, e);
    add(row, f);
    add(row, g);
    add(row, h);
  }
  for (; at < end; at += 256u) {
    add(row, keys[params.keys_base + at]);
  }
  workgroupBarrier();
  if (place < DIGITS) {
    let sum = atomicLoad(&bins[place]) + atomicLoad(&bins[256u + place]);
    let more = atomicLoad(&bins[512u + place]) + atomicLoad(&bins[768u + place]);
    counts[params.counts_base + place * params.ranges + group.x] = sum + more;
  }
}
//// starts
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
//// select
// Counts the next digit of the keys that begin as each splitter does, in a row for each; where no digit is known yet, in one row for all.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read> splitters: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> rows: array<atomic<u32>, 3840>;
// The first digits of the splitters, read once, since another device may own them. 0xffffffff where there is none: no key begins so.
var<workgroup> starts: array<u32, 16>;
var<private> first_starts: vec4<u32>;

fn add(bits: Key, place: u32, count: u32) {
  let key = encoded(bitcast<u32>(bits));
  let digit = (key >> params.shift) & 255u;
  if (params.shift == 24u) {
    // Four copies, so that fewer invocations meet.
    atomicAdd(&rows[place / 64u * 256u + digit], 1u);
    return;
  }
  let start = key >> ((params.shift + 8u) & 31u);
  let same = first_starts == vec4<u32>(start);
  if (any(same)) {
    for (var k = 0u; k < 4u; k++) {
      if (same[k]) {
        atomicAdd(&rows[k * 256u + digit], 1u);
      }
    }
  }
  for (var k = 4u; k < count; k++) {
    if (starts[k] == start) {
      atomicAdd(&rows[k * 256u + digit], 1u);
    }
  }
}

@compute @workgroup_size(256)
fn select_count(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let count = params.counts_length / 256u;
  if (place < 16u) {
    starts[place] = select(0xffffffffu, splitters[params.splitters_base + min(place, count - 1u)], place < count);
  }
  workgroupBarrier();
  first_starts = vec4<u32>(starts[0], starts[1], starts[2], starts[3]);
  let end = min((group.x + 1u) * params.range, params.keys_length);
  var at = group.x * params.range + place;
  for (; at + 1792u < end; at += 2048u) {
    let first = params.keys_base + at;
    let a = keys[first];
    let b = keys[first + 256u];
    let c = keys[first + 512u];
    let d = keys[first + 768u];
    let e = keys[first + 1024u];
    let f = keys[first + 1280u];
    let g = keys[first + 1536u];
    let h = keys[first + 1792u];
    add(a, place, count);
    add(b, place, count);
    add(c, place, count);
    add(d, place, count);
    add(e, place, count);
    add(f, place, count);
    add(g, place, count);
    add(h, place, count);
  }
  for (; at < end; at += 256u) {
    add(keys[params.keys_base + at], place, count);
  }
  workgroupBarrier();
  let first_pass = params.shift == 24u;
  for (var k = place; k < select(count, 4u, first_pass) * 256u; k += 256u) {
    let sum = atomicLoad(&rows[k]);
    if (sum > 0u) {
      atomicAdd(&counts[params.counts_base + select(k, k % 256u, first_pass)], sum);
    }
  }
}
//// scatter
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
