// run: workgroups=1,1,1
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

struct Particle { position: vec3f, mass: f32, cell: vec2i }
fn advance(p: Particle, dt: f32) -> Particle {
  var r = p;
  r.position += vec3f(dt, dt * 2.0, p.mass);
  r.mass *= 2.0;
  return r;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let p = Particle(vec3f(f32(i), 1.0, 2.0), 3.0, vec2i(i32(i), -1));
  let q = advance(p, 0.5);
  out[i] = q.position.x + q.position.y * 10.0 + q.mass + f32(q.cell.x * q.cell.y) + p.mass;
}
