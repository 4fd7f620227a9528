// run: workgroups=1,1,1
// buffer input: u32[32] random
// buffer out: u32[32]

// Components of a vector of bool, chosen at run time, assigned what operators on bools give.
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<private> flags: vec4<bool> = vec4<bool>(true, false, true, false);

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = input[i];
  var v = vec3<bool>(true, false, true);
  v[x % 3] &= (x & 8) != 0;
  v[(x >> 4) % 3] |= (x & 16) != 0;
  v[(x >> 8) % 3] = v.x & ((x & 32) != 0);
  v[(x >> 9) % 3] = v.x || v.y;
  v[(x >> 10) % 3] = !v[x % 3];
  flags[x % 4] |= v.y;
  flags[(x >> 5) % 4] = flags[(x >> 7) % 4] | v.z;
  out[i] = dot(select(vec3u(), vec3u(1, 2, 4), v), vec3u(1)) + dot(select(vec4u(), vec4u(8, 16, 32, 64), flags), vec4u(1));
}
