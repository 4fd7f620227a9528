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
  var a = array<u32, 4>(1, 2, 3, 4);
  var k = 0u;
  a[next(&k)] += next(&k) * 10u;
  a[next(&k)]++;
  out[i] = a[0] + a[1] * 100u + a[2] * 10000u + k * 1000000u + i * 0u;
}
