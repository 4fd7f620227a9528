// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var v = vec4u(1u, 2u, 3u, 4u);
  v[i % 4u] = 10u * i;
  v[(i + 1u) % 4u] += 5u;
  let w = v;
  out[i] = w[i % 3u] + v.x * 1000u + v[3] * 100000u;
}
