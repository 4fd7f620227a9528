// run: workgroups=1,1,1 tolerance=relative:0.001,absolute:0.001
// buffer bodies: f32[128] random(0.5, 2)
// buffer out: f32[128]

struct Body { position: vec3f, mass: f32, }
@group(0) @binding(0) var<storage, read> bodies: array<Body>;
@group(0) @binding(1) var<storage, read_write> out: array<Body>;

fn pull(on: Body, other: Body) -> vec3f {
  let d = other.position - on.position;
  let r2 = dot(d, d) + 0.01;
  return d * (other.mass * inverseSqrt(r2 * r2 * r2));
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let me = bodies[i];
  var force = vec3f();
  for (var k = 0u; k < arrayLength(&bodies); k++) {
    if k == i { continue; }
    force += pull(me, bodies[k]);
  }
  out[i] = Body(me.position + force * 0.01, length(force));
}
