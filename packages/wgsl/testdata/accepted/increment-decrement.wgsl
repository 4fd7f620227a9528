// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var a = i;
  var b = array<i32, 2>(5, -5);
  a++; a++; a--;
  b[i % 2u]--; b[(i + 1u) % 2u]++;
  out[i] = a * 10u + u32(b[0] + 10) + u32(b[1] + 10) * 100u;
}
