// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn next(k: ptr<function, u32>) -> u32 {
  *k += 1u;
  return *k - 1u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var a = array<u32, 8>(10, 11, 12, 13, 14, 15, 16, 17);
  var k = i % 3u;
  a[next(&k)] = a[next(&k)] + k;
  out[i] = a[0] + a[1] * 2u + a[2] * 3u + a[3] * 4u + a[4] * 5u;
}
