struct Params {
  own_base: u32, own_length: u32, all_base: u32, all_length: u32, moved_base: u32, velocity_base: u32,
  step: f32,
}

/** Positions in x, y and z, the mass in w. */
@group(0) @binding(0) var<storage, read> own: array<vec4f>;
@group(0) @binding(1) var<storage, read> all: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> moved: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> velocity: array<vec4f>;
@group(0) @binding(4) var<uniform> params: Params;

/** One step of gravity for this device's bodies, softened so that close bodies do not fly apart. */
@compute @workgroup_size(64)
fn advance(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.own_length / 4u) { return; }
  let body = own[params.own_base + id.x];
  var pull = vec3f();
  for (var i = 0u; i < params.all_length / 4u; i++) {
    let other = all[params.all_base + i];
    let apart = other.xyz - body.xyz;
    let distance_squared = dot(apart, apart) + 0.01;
    pull += other.w * apart / (distance_squared * sqrt(distance_squared));
  }
  let speed = velocity[params.velocity_base + id.x].xyz + params.step * pull;
  velocity[params.velocity_base + id.x] = vec4f(speed, 0);
  moved[params.moved_base + id.x] = vec4f(body.xyz + params.step * speed, body.w);
}
