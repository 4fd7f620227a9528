// A workgroup moves the keys of a range tile by tile: it ranks the keys of a tile by their digits, puts them in order in workgroup memory, and
// writes runs of equal digits. A subgroup of 32 ranks its keys by ballots (Merrill and Grimshaw, High performance and scalable radix sorting, 2011;
// Adinets and Merrill, Onesweep, 2022, of which the ranking is).
//
// Keys beyond the end are the greatest, at the end of the last tile, so that they come last and are not stored.

const SUBGROUPS = THREADS / 32u;
const TILE = THREADS * EACH;

var<workgroup> ranked: array<u32, SUBGROUPS * 256u>; // [subgroup][digit]
var<workgroup> next: array<u32, 256>; // where the next key of a digit of the range goes
var<workgroup> offsets: array<u32, 256>; // from a place in the tile to one in the output, by digit
var<workgroup> part_sums: array<u32, 8>;
var<workgroup> staged: array<u32, TILE>;

@compute @workgroup_size(THREADS)
fn scatter(
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let place = subgroup * 32u + lane;
  let below = (1u << lane) - 1u;
  {
    var total = 0u;
    if (place < 256u) {
      total = totals[params.totals_base + place];
    }
    let through = subgroupInclusiveAdd(total);
    if (lane == 31u && subgroup < 8u) {
      part_sums[subgroup] = through;
    }
    workgroupBarrier();
    if (place < 256u) {
      var start = through - total;
      for (var s = 0u; s < 8u; s++) {
        start += select(0u, part_sums[s], s < subgroup);
      }
      next[place] = start + counts[params.counts_base + place * params.ranges + group.x];
    }
    for (var k = place; k < SUBGROUPS * 256u; k += THREADS) {
      ranked[k] = 0u;
    }
    workgroupBarrier();
  }
  let range_end = min((group.x + 1u) * params.range, params.keys_length);
  for (var tile = group.x * params.range; tile < range_end; tile += TILE) {
    let valid = min(TILE, range_end - tile);
    let first = tile + subgroup * (32u * EACH) + lane;
    var own: array<u32, EACH>;
    if (valid == TILE) {
      for (var k = 0u; k < EACH; k++) {
        own[k] = encoded(bitcast<u32>(keys[params.keys_base + first + 32u * k]));
      }
    } else {
      for (var k = 0u; k < EACH; k++) {
        own[k] = 0xffffffffu;
        if (first + 32u * k < range_end) {
          own[k] = encoded(bitcast<u32>(keys[params.keys_base + first + 32u * k]));
        }
      }
    }
    // Of each key among the subgroup's keys of its digit. A counter is read and written by turns, between which WGSL needs a barrier.
    var ranks: array<u32, EACH>;
    for (var k = 0u; k < EACH; k++) {
      let digit = digit_of(own[k]);
      var peers = 0xffffffffu;
      for (var b = 0u; b < 8u; b++) {
        let bit = ((digit >> b) & 1u) != 0u;
        let ballot = subgroupBallot(bit).x;
        peers &= select(~ballot, ballot, bit);
      }
      let leader = countTrailingZeros(peers);
      var base = 0u;
      if (lane == leader) {
        base = ranked[subgroup * 256u + digit];
        ranked[subgroup * 256u + digit] = base + countOneBits(peers);
      }
      base = subgroupShuffle(base, leader);
      ranks[k] = base + countOneBits(peers & below);
      workgroupBarrier();
    }
    // What comes before each subgroup's keys of each digit, in the tile.
    var total = 0u;
    var before: array<u32, SUBGROUPS>;
    if (place < 256u) {
      for (var s = 0u; s < SUBGROUPS; s++) {
        before[s] = total;
        total += ranked[s * 256u + place];
      }
    }
    let through = subgroupInclusiveAdd(total);
    if (lane == 31u && subgroup < 8u) {
      part_sums[subgroup] = through;
    }
    workgroupBarrier();
    if (place < 256u) {
      var start = through - total;
      for (var s = 0u; s < 8u; s++) {
        start += select(0u, part_sums[s], s < subgroup);
      }
      for (var s = 0u; s < SUBGROUPS; s++) {
        ranked[s * 256u + place] = before[s] + start;
      }
      let from_here = next[place];
      offsets[place] = from_here - start;
      // Keys beyond the end count too: no tile follows theirs.
      next[place] = from_here + total;
    }
    workgroupBarrier();
    for (var k = 0u; k < EACH; k++) {
      ranks[k] += ranked[subgroup * 256u + digit_of(own[k])];
      staged[ranks[k]] = own[k];
    }
    workgroupBarrier();
    for (var k = place; k < SUBGROUPS * 256u; k += THREADS) {
      ranked[k] = 0u;
    }
    var targets: array<u32, EACH>;
    for (var k = 0u; k < EACH; k++) {
      let at = place + THREADS * k;
      let key = staged[at];
      targets[k] = offsets[digit_of(key)] + at;
      if (at < valid) {
        sorted[params.sorted_base + targets[k]] = bitcast<Key>(decoded(key));
      }
    }
    workgroupBarrier();
    if (has_values) {
      for (var k = 0u; k < EACH; k++) {
        if (first + 32u * k < range_end) {
          staged[ranks[k]] = value_at(first + 32u * k);
        }
      }
      workgroupBarrier();
      for (var k = 0u; k < EACH; k++) {
        let at = place + THREADS * k;
        if (at < valid) {
          store_value(targets[k], staged[at]);
        }
      }
      workgroupBarrier();
    }
  }
}
