// For adapters that run on the CPU, where barriers cost most: one invocation does what a workgroup does elsewhere, in the same order.

alias Line = array<u32, 32>;

/** The inclusive prefixes of 32 values. */
fn climb(values: ptr<function, Line>) {
  for (var distance = 1u; distance < 32u; distance *= 2u) {
    for (var lane = 31u; lane >= distance; lane--) {
      (*values)[lane] = combine((*values)[lane - distance], (*values)[lane]);
    }
  }
}

fn before(values: ptr<function, Line>, lane: u32) -> u32 {
  let below = (*values)[max(lane, 1u) - 1u];
  return select(neutral, below, lane >= 1u);
}

/** The prefixes in a line of a block, which has 32 lines of 32 values: see value_at. */
fn climb_line(block: u32, line: u32, values: ptr<function, Line>) {
  for (var lane = 0u; lane < 32u; lane++) {
    (*values)[lane] = value_at(block * 1024u + line * 32u + lane);
  }
  climb(values);
}

/** The prefixes of the sums of a block's lines. */
fn climb_block(block: u32, lines: ptr<function, Line>) {
  for (var line = 0u; line < 32u; line++) {
    var own: Line;
    climb_line(block, line, &own);
    (*lines)[line] = own[31];
  }
  climb(lines);
}
