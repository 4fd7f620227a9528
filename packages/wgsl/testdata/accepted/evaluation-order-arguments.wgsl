// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn next(k: ptr<function, u32>) -> u32 {
  *k = *k * 3u + 1u;
  return *k % 8u;
}
fn three(a: u32, b: u32, c: u32) -> u32 { return a * 100u + (b % 10u) * 10u + c; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var k = i;
  let r = three(next(&k), k, next(&k));
  out[i] = r * 10u + k % 10u;
}
