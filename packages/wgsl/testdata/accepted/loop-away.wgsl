// run: workgroups=1,1,1
// buffer bound: u32[1] values(70)
// buffer out: u32[64]
// Counters that start at their bound, or a constant apart from it, and move away from it: a compiler took such loops to end
// after one round.

@group(0) @binding(0) var<uniform> bound: u32;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn counted(start: u32) -> u32 {
  var rounds = 0u;
  var k = start;
  for (var turn = 0u; turn < 9u; turn++) {
    if (k > start) {
      return rounds;
    }
    rounds++;
    k -= 16u;
  }
  return rounds;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let start = bound + i;
  var sum = counted(start);
  var turns = 0u;
  for (var k = start; k <= start; k -= 30u) {
    turns++;
    if (turns == 7u) { break; }
  }
  sum = sum * 10u + turns;
  turns = 0u;
  for (var k = i32(start); k <= i32(start) + 1; k -= 1) {
    turns++;
    if (turns == 6u) { break; }
  }
  sum = sum * 10u + turns;
  turns = 0u;
  var k = start;
  while (start <= k && turns != 8u) {
    turns++;
    k += 1u;
  }
  sum = sum * 10u + turns;
  turns = 0u;
  var v = vec2u(start, i);
  loop {
    turns++;
    let isPast = v.x > start;
    if (isPast || turns == 9u) { break; }
    v.x -= 40u;
  }
  sum = sum * 10u + turns;
  turns = 0u;
  k = start;
  loop {
    turns++;
    k -= 20u;
    continuing {
      break if k > start;
    }
  }
  out[i] = sum * 10u + turns;
}
