// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn change(x: ptr<function, u32>) -> u32 {
  *x = 1000u;
  return 5u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var x = i;
  x += change(&x);
  out[i] = x;
}
