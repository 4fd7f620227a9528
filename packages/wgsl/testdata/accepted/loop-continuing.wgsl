// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var k = 0u;
  var sum = 0u;
  loop {
    if k >= 10u { break; }
    if k % 3u == i % 3u { continue; }
    sum += k;
    continuing {
      k++;
      sum += 100u;
    }
  }
  out[i] = sum;
}
