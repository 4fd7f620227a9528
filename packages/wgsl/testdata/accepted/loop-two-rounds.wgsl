// run: workgroups=1,1,1
// buffer out: u32[64]
// Loops of two rounds with a second exit whose condition turns out to be a constant when functions are inlined: an
// assembler ended such loops after their first round.

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn broken(a: u32, rounds: u32, i: u32) -> u32 {
  var sum = 3u;
  for (var k = 0u; k < (rounds & 3u); k++) {
    sum = sum * 3u + a;
    if (i != a) {
      break;
    }
  }
  return sum;
}

fn returned(a: u32, rounds: u32, i: u32) -> u32 {
  var sum = 5u;
  for (var k = 0u; k < rounds; k++) {
    sum = sum * 3u + a;
    if (i != a) {
      return sum;
    }
  }
  return sum * 7u;
}

fn continued(a: u32, rounds: u32, i: u32) -> u32 {
  var sum = 7u;
  for (var k = 0u; k < rounds; k++) {
    sum = sum * 3u + a;
    if (i == a) {
      continue;
    }
    break;
  }
  return sum;
}

fn repeated(a: u32, rounds: u32, i: u32) -> u32 {
  var sum = 11u;
  var k = 0u;
  while (k < rounds) {
    sum = sum * 3u + a;
    k++;
    if (i != a) {
      break;
    }
  }
  return sum;
}

fn tested(a: u32, rounds: u32, i: u32) -> u32 {
  var sum = 13u;
  var k = 0u;
  loop {
    sum = sum * 3u + a;
    if (k >= rounds) {
      break;
    }
    continuing {
      k++;
      break if i != a;
    }
  }
  return sum;
}

fn flagged(a: u32, i: u32) -> u32 {
  var sum = 17u;
  var again = true;
  loop {
    sum = sum * 3u + a;
    let more = again & (i == a);
    again = false;
    if (!more) {
      break;
    }
  }
  return sum;
}

fn nested(most: u32, i: u32) -> u32 {
  var sum = 19u;
  for (var k = 0u; k < (most & 3u); k++) {
    for (var j = 0u; j < ((k ^ 31u) & 3u); j++) {
      sum = sum * 3u + i;
      if ((2u | i) < k) {
        break;
      }
    }
  }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var sum = broken(i, 2u, i);
  sum = sum * 31u + returned(i, 2u, i);
  sum = sum * 31u + continued(i, 2u, i);
  sum = sum * 31u + repeated(i, 2u, i);
  sum = sum * 31u + tested(i, 1u, i);
  sum = sum * 31u + flagged(i, i);
  sum = sum * 31u + nested(3u, i);
  out[i] = sum;
}
