// The prefixes of 1,024 values, four of each of 256 invocations, through workgroup memory: for devices whose subgroups are not of 32.

struct Invocation {
  @builtin(local_invocation_index) place: u32,
}

fn place_of(at: Invocation) -> u32 {
  return at.place;
}

// Two halves take turns.
var<workgroup> ladder: array<vec4<u32>, 512>;
var<workgroup> line_totals: array<u32, 32>;

/** The inclusive prefixes of lines of 32 invocations, of four values at once (Kogge and Stone 1973); `ladder[256 + place]` has them too. */
fn climb(place: u32, values: vec4<u32>) -> vec4<u32> {
  let lane = place % 32u;
  var sum = values;
  for (var step = 0u; step < 5u; step++) {
    let half = step % 2u * 256u;
    ladder[half + place] = sum;
    workgroupBarrier();
    let distance = 1u << step;
    let below = ladder[half + max(place, distance) - distance];
    sum = select(sum, combine_vectors(below, sum), lane >= distance);
  }
  ladder[256u + place] = sum;
  workgroupBarrier();
  return sum;
}

/** Of the invocation before in the line, as the last `climb` left them; nothing comes before the first. */
fn before_lane(place: u32) -> vec4<u32> {
  let below = ladder[256u + max(place, 1u) - 1u];
  return select(vec4<u32>(neutral), below, place % 32u >= 1u);
}

fn block_prefixes(at: Invocation, values: vec4<u32>) -> BlockPrefixes {
  let line = at.place / 32u;
  let sums = climb(at.place, values);
  let before = before_lane(at.place);
  if (at.place % 32u == 31u) {
    line_totals[line] = sums.x;
    line_totals[8u + line] = sums.y;
    line_totals[16u + line] = sums.z;
    line_totals[24u + line] = sums.w;
  }
  workgroupBarrier();
  // Each line of invocations does the same.
  climb(at.place, vec4<u32>(line_totals[at.place % 32u]));
  var result: BlockPrefixes;
  result.total = ladder[256u + 31u].x;
  let before_lines = vec4<u32>(
    select(neutral, ladder[256u + max(line, 1u) - 1u].x, line >= 1u),
    ladder[256u + 7u + line].x,
    ladder[256u + 15u + line].x,
    ladder[256u + 23u + line].x,
  );
  result.before = combine_vectors(before_lines, before);
  return result;
}
