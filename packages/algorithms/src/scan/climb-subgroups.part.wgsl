// The prefixes of 1,024 values, four of each of 256 invocations, by subgroups of 32. An invocation is found by its subgroup and its place in
// it: `local_invocation_index` need not follow them.

struct Invocation {
  @builtin(subgroup_id) subgroup: u32,
  @builtin(subgroup_invocation_id) lane: u32,
}

fn place_of(at: Invocation) -> u32 {
  return at.subgroup * 32u + at.lane;
}

var<workgroup> line_totals: array<u32, 32>;

/** The inclusive prefix of the subgroup's values (Kogge and Stone 1973). */
fn climb(lane: u32, value: u32) -> u32 {
  var sum = value;
  var below = subgroupShuffleUp(sum, 1u);
  sum = select(sum, combine(below, sum), lane >= 1u);
  below = subgroupShuffleUp(sum, 2u);
  sum = select(sum, combine(below, sum), lane >= 2u);
  below = subgroupShuffleUp(sum, 4u);
  sum = select(sum, combine(below, sum), lane >= 4u);
  below = subgroupShuffleUp(sum, 8u);
  sum = select(sum, combine(below, sum), lane >= 8u);
  below = subgroupShuffleUp(sum, 16u);
  return select(sum, combine(below, sum), lane >= 16u);
}

/** Of the lane before; nothing comes before the first. */
fn before_lane(lane: u32, sum: u32) -> u32 {
  let below = subgroupShuffleUp(sum, 1u);
  return select(neutral, below, lane >= 1u);
}

fn block_prefixes(at: Invocation, values: vec4<u32>) -> BlockPrefixes {
  let x = climb(at.lane, values.x);
  let y = climb(at.lane, values.y);
  let z = climb(at.lane, values.z);
  let w = climb(at.lane, values.w);
  if (at.lane == 31u) {
    line_totals[at.subgroup] = x;
    line_totals[8u + at.subgroup] = y;
    line_totals[16u + at.subgroup] = z;
    line_totals[24u + at.subgroup] = w;
  }
  workgroupBarrier();
  let lines = climb(at.lane, line_totals[at.lane]);
  let before_line = before_lane(at.lane, lines);
  var result: BlockPrefixes;
  result.total = subgroupShuffle(lines, 31u);
  result.before = vec4<u32>(
    combine(subgroupShuffle(before_line, at.subgroup), before_lane(at.lane, x)),
    combine(subgroupShuffle(before_line, 8u + at.subgroup), before_lane(at.lane, y)),
    combine(subgroupShuffle(before_line, 16u + at.subgroup), before_lane(at.lane, z)),
    combine(subgroupShuffle(before_line, 24u + at.subgroup), before_lane(at.lane, w)),
  );
  return result;
}
