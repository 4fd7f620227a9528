// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var total = 0u;
  var k = 0u;
  loop {
    let square = k * k;
    if square > 50u { break; }
    var twice = square * 2u;
    continuing {
      twice += 1u;
      let next = twice;
      total += next;
      k += 1u + i % 2u;
      break if next > 60u;
    }
  }
  out[i] = total * 100u + k;
}
