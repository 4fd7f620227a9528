// A workgroup moves the keys of a range tile by tile: it ranks the keys of a tile by their digits, puts them in order in workgroup memory, and
// writes runs of equal digits. A subgroup of 32 ranks its keys by ballots (Merrill and Grimshaw, High performance and scalable radix sorting, 2011;
// Adinets and Merrill, Onesweep, 2022, of which the ranking is).
//
// Values go the same way afterwards, through the same workgroup memory: keys and values together would leave room for fewer workgroups.
//
// Keys beyond the end are the greatest, at the end of the last tile, so that they come last and are not stored.

const SUBGROUPS = THREADS / 32u;
const TILE = THREADS * EACH;
// Invocations that add up the counts of one digit, and the subgroups of each.
const SHARES = THREADS / 256u;
const SHARE = SUBGROUPS / SHARES;

var<workgroup> ranked: array<u32, SUBGROUPS * 256u>; // [subgroup][digit]: keys so far; then what comes before them in their share
var<workgroup> next: array<u32, 256>; // where the next key of a digit of the range goes
var<workgroup> offsets: array<u32, 256>; // from a place in the tile to one in the output, by digit
var<workgroup> shares: array<u32, SHARES * 256u>; // [share][digit]: its keys; then what comes before them in the tile
var<workgroup> part_sums: array<u32, 8>;
var<workgroup> staged: array<u32, TILE>; // the keys of the tile in order; then the values

/** The half of a word that belongs to key k. */
fn rank_of(pair: u32, k: u32) -> u32 {
  return (pair >> (16u * (k % 2u))) & 0xffffu;
}

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
    // Of each key among the subgroup's keys of its digit, two in a word: registers say how many workgroups share a multiprocessor. A counter is read
    // and written by turns, between which WGSL needs a barrier. The initializer is needed: Dawn does not clear a variable each time around a loop.
    var ranks = array<u32, EACH / 2u>();
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
      ranks[k / 2u] |= (base + countOneBits(peers & below)) << (16u * (k % 2u));
      workgroupBarrier();
    }
    // What comes before each subgroup's keys of each digit in the tile: before its share, and before it in its share.
    let digit = place % 256u;
    let share = place / 256u * SHARE;
    var total = 0u;
    if (place < 256u * SHARES) {
      for (var s = 0u; s < SHARE; s++) {
        let slot = (share + s) * 256u + digit;
        let here = ranked[slot];
        ranked[slot] = total;
        total += here;
      }
      shares[place] = total;
    }
    workgroupBarrier();
    var all = 0u;
    if (place < 256u) {
      for (var h = 0u; h < SHARES; h++) {
        all += shares[h * 256u + place];
      }
    }
    let through = subgroupInclusiveAdd(all);
    if (lane == 31u && subgroup < 8u) {
      part_sums[subgroup] = through;
    }
    workgroupBarrier();
    if (place < 256u) {
      var start = through - all;
      for (var s = 0u; s < 8u; s++) {
        start += select(0u, part_sums[s], s < subgroup);
      }
      let from_here = next[place];
      offsets[place] = from_here - start;
      // Keys beyond the end count too: no tile follows theirs.
      next[place] = from_here + all;
      for (var h = 0u; h < SHARES; h++) {
        let here = shares[h * 256u + place];
        shares[h * 256u + place] = start;
        start += here;
      }
    }
    workgroupBarrier();
    let own_share = subgroup / SHARE * 256u;
    for (var k = 0u; k < EACH; k++) {
      let own_digit = digit_of(own[k]);
      let before = ranked[subgroup * 256u + own_digit] + shares[own_share + own_digit];
      ranks[k / 2u] += before << (16u * (k % 2u));
      staged[rank_of(ranks[k / 2u], k)] = own[k];
    }
    workgroupBarrier();
    for (var k = place; k < SUBGROUPS * 256u; k += THREADS) {
      ranked[k] = 0u;
    }
    for (var k = 0u; k < EACH; k++) {
      let at = place + THREADS * k;
      if (at < valid) {
        let key = staged[at];
        let to = offsets[digit_of(key)] + at;
        sorted[params.sorted_base + to] = bitcast<Key>(decoded(key));
        own[k] = to;
      }
    }
    workgroupBarrier();
    if (has_values) {
      for (var k = 0u; k < EACH; k++) {
        staged[rank_of(ranks[k / 2u], k)] = value_at(min(first + 32u * k, range_end - 1u));
      }
      workgroupBarrier();
      for (var k = 0u; k < EACH; k++) {
        let at = place + THREADS * k;
        if (at < valid) {
          store_value(own[k], staged[at]);
        }
      }
      workgroupBarrier();
    }
  }
}
