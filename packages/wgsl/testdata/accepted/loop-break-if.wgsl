// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var k = 0u;
  loop {
    k += 1u;
    continuing {
      k += i % 2u;
      break if k > 20u;
    }
  }
  out[i] = k;
}
