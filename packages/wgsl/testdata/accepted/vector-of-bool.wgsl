// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let a = vec3u(i, i + 1u, 5u) > vec3u(7u);
  let b = !a | vec3<bool>(true, false, i == 3u);
  let c = a & b;
  let d = select(vec3u(1u), vec3u(2u), c);
  out[i] = d.x + d.y * 10u + d.z * 100u + u32(all(b)) * 1000u + u32(any(c)) * 10000u + u32(a.x == b.y) * 100000u;
}
