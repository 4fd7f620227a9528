// run: workgroups=1,1,1
// buffer out: i32[64]

@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let y = i32(i);
  var x = 3;
  let z = x--y;
  let w = - -y--x;
  x--;
  out[i] = z * 100 + w * 10 + x;
}
