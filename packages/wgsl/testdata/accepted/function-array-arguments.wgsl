// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn reverse(a: array<u32, 5>) -> array<u32, 5> {
  var r: array<u32, 5>;
  for (var k = 0; k < 5; k++) { r[k] = a[4 - k]; }
  return r;
}
fn total(a: array<u32, 5>) -> u32 {
  var t = 0u;
  for (var k = 0u; k < 5u; k++) { t += a[k]; }
  return t;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var a = array<u32, 5>(1, 2, 3, 4, i);
  let reversed = reverse(a);
  a[0] = 100u;
  out[i] = reversed[0] * 1000u + reversed[4] * 100u + total(a);
}
