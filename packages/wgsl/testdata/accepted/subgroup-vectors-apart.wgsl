// run: workgroups=1,1,1
// buffer out: u32[20]
// Invocations that get the vector of one of them change it each for itself.
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  var broadcast = subgroupBroadcast(vec2u(i, 7u), 2u);
  var first = subgroupBroadcastFirst(vec3u(i + 5u));
  var shuffled = subgroupShuffle(vec4u(i), 1u);
  var quad = quadBroadcast(vec2u(i), 3u);
  var sum = subgroupAdd(vec2u(i));
  broadcast.x += i;
  first.y -= i;
  shuffled[i] *= 3u + i;
  quad.y ^= i;
  sum.x += i;
  out[i] = broadcast.x;
  out[4u + i] = first.y;
  out[8u + i] = dot(shuffled, vec4u(1u, 10u, 100u, 1000u));
  out[12u + i] = quad.y;
  out[16u + i] = sum.x;
}
