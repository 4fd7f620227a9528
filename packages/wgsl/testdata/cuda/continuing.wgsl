// run: workgroups=1,1,1
// buffer out: u32[8]
// `continue` goes to the continuing part, which sees the body's variables; `break if` ends the loop.
@group(0) @binding(0) var<storage, read_write> out: array<u32, 8>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  var n = i;
  var trace = 0u;
  loop {
    let step = n % 3u + 1u;
    switch (n % 4u) {
      case 0u: {
        trace += 100u;
        continue;
      }
      case 1u, 2u: {
        trace += 10u;
      }
      default: {
        trace += 1u;
        break;
      }
    }
    trace += 1000u;
    continuing {
      let next = n + step;
      n = next;
      break if next > 12u;
    }
  }
  out[i] = trace;
}
