// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn next(k: ptr<function, u32>) -> u32 {
  *k += 2u;
  return *k;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var k = i;
  let r = k + next(&k) * 10u - k * next(&k);
  let v = vec3u(next(&k), k, next(&k));
  out[i] = r + v.x + v.y * 3u + v.z * 5u;
}
