// run: workgroups=1,1,1
// buffer bound: u32[1] values(70)
// buffer out: u32[64]
// Counters that move away from the bound at which they start, where the comparison with the bound decides about
// the loop's end through a flag, an equality, a function or a jump: a compiler took such loops to end after one round.

@group(0) @binding(0) var<uniform> bound: u32;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn past(k: u32, start: u32) -> u32 {
  if (k > start) {
    return 1u;
  }
  return 0u;
}

fn switched(start: u32) -> u32 {
  var rounds = 0u;
  var k = start;
  loop {
    rounds++;
    k -= 16u;
    switch (past(k, start)) {
      case 1u: { return rounds; }
      default: { }
    }
  }
  return rounds;
}

fn returned(start: u32) -> u32 {
  var rounds = 0u;
  var k = start;
  loop {
    rounds++;
    k -= 17u;
    for (var j = k; j > start; j -= 1u) {
      return rounds;
    }
  }
  return rounds;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let start = bound + i;
  var sum = switched(start) * 10u + returned(start);
  var rounds = 0u;
  for (var k = start; (k <= start) == true; k -= 18u) {
    rounds++;
  }
  sum = sum * 10u + rounds;
  rounds = 0u;
  var k = start;
  var stop = 0u;
  while (stop == 0u) {
    rounds++;
    k -= 19u;
    if (k > start) {
      stop = 1u;
    }
  }
  sum = sum * 10u + rounds;
  rounds = 0u;
  k = start;
  loop {
    rounds++;
    k -= 20u;
    if (max(k, start) != start) { break; }
  }
  sum = sum * 10u + rounds;
  rounds = 0u;
  k = start;
  loop {
    rounds++;
    k -= 21u;
    if (select(0.0, 3.0, k > start) > 1.0) { break; }
  }
  sum = sum * 10u + rounds;
  rounds = 0u;
  k = start;
  loop {
    rounds++;
    k -= 22u;
    if (k <= start) { continue; }
    break;
  }
  sum = sum * 10u + rounds;
  rounds = 0u;
  for (var j = start; start - j <= start; j -= 23u) {
    rounds++;
  }
  out[i] = sum * 10u + rounds;
}
