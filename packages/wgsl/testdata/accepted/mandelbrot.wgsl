// run: workgroups=2,2,1
// buffer out: u32[256]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  // Steps of 1/8 and few iterations, so that every implementation counts alike.
  let c = vec2f(id.xy) * 0.125 - vec2f(1.5, 1.0);
  var z = vec2f();
  var n = 0u;
  while n < 6u && dot(z, z) <= 16.0 {
    z = vec2f(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    n++;
  }
  out[id.y * 16u + id.x] = n;
}
