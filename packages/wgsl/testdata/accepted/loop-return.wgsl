// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn find(i: u32) -> u32 {
  var k = 2u;
  loop {
    if (i + 40u) % k == 0u { return k; }
    k++;
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = find(i);
}
