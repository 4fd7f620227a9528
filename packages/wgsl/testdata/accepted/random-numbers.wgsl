// run: workgroups=2,1,1
// buffer out: u32[128]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn pcg(v: u32) -> u32 {
  let state = v * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}
fn rotate_left(x: u32, k: u32) -> u32 { return (x << k) | (x >> (32u - k)); }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var s = vec4u(pcg(id.x), pcg(id.x + 1u), pcg(id.x ^ 0xffffffffu), 1u);
  for (var k = 0; k < 10; k++) {
    let t = s.y << 9u;
    s.z ^= s.x; s.w ^= s.y; s.y ^= s.z; s.x ^= s.w;
    s.z ^= t;
    s.w = rotate_left(s.w, 11u);
  }
  out[id.x] = s.x + s.y * 3u + s.z * 5u + s.w * 7u;
}
