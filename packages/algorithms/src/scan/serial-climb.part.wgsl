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
