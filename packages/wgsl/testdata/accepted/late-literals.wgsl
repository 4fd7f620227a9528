// run: workgroups=1,1,1
// buffer data: i32[256] random(-9, 9)
// buffer out: i32[576]
// If ptxas finds late that branches are never taken, so that k is a literal, a minimum of k - x has x - k in its place, and
// a bit that is shifted by one - c is lost.
enable subgroups;
@group(0) @binding(0) var<storage, read> data: array<i32, 256>;
@group(0) @binding(1) var<storage, read_write> out: array<i32, 576>;

fn changed(x: i32, y: i32, d: i32, change: i32, which: u32) -> i32 {
  var k = -2;
  var sum = 0;
  var round = 0;
  loop {
    if (change != 0) {
      k = d;
      if (y == 3) {
        break;
      }
    }
    switch which {
      case 0u: { sum += min(y, k - x); }
      case 1u: { sum += max(abs(k) - x, y); }
      case 2u: { sum += min(y, k + -x); }
      case 3u: { sum += min(y, i32(u32(k) & 255u) - x); }
      case 4u: { sum += min(y, (d | (k ^ 1)) - x); }
      default: { sum += select(y, k - x, y > k - x); }
    }
    round++;
    if (round > 5) {
      break;
    }
  }
  return sum;
}

fn shuffled(x: i32, y: i32, d: i32, stop: bool) -> i32 {
  var k = -2;
  var most = 0;
  loop {
    most = min(y, subgroupBroadcastFirst(k) - x);
    k = d;
    if (stop) {
      break;
    }
  }
  return most;
}

fn shifted(x: u32, d: u32, change: u32) -> u32 {
  var one = 1u;
  var c = 8u;
  var sum = 0u;
  var round = 0u;
  loop {
    if (change != 0u) {
      one = d;
      c = d;
      if (x == 3u) {
        break;
      }
    }
    sum = sum * 3u + ((one & x) << ((one - c) & 31u));
    round++;
    if (round > 2u) {
      break;
    }
  }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let x = data[i];
  let y = data[i + 64u];
  let d = data[i + 128u];
  out[i] = changed(x, y, d, 0, 0u);
  out[i + 64u] = changed(x, y, d, 0, 1u);
  out[i + 128u] = changed(x, y, d, 0, 2u);
  out[i + 192u] = changed(x, y, d, 0, 3u);
  out[i + 256u] = changed(x, y, d, 0, 4u);
  out[i + 448u] = changed(x, y, d, 0, 5u);
  out[i + 320u] = shuffled(x, y, d, true);
  out[i + 512u] = bitcast<i32>(shifted(bitcast<u32>(x), bitcast<u32>(d), 0u));
  var k = 7;
  if (lane > 127u) {
    k = d;
  }
  out[i + 384u] = max(y, k - x);
}
