// run: workgroups=3,1,1
// buffer out: u32[96]

// Workgroup memory of a size that is no multiple of 16 bytes is zero, however few invocations there are.
struct Odd {
  a: u32,
  b: vec3u,
  c: array<u32, 5>,
}

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> one: u32;
var<workgroup> three: array<u32, 3>;
var<workgroup> many: array<u32, 21>;
var<workgroup> odd: Odd;
var<workgroup> flags: array<bool, 27>;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u) {
  let base = id.x * 32;
  out[base] = one;
  for (var i = 0u; i < 3; i++) { out[base + 1] |= three[i]; }
  for (var i = 0u; i < 21; i++) { out[base + 2] |= many[i]; }
  for (var i = 0u; i < 5; i++) { out[base + 3] |= odd.c[i]; }
  for (var i = 0u; i < 27; i++) { out[base + 4] |= u32(flags[i]); }
  out[base + 5] = odd.a | odd.b.x | odd.b.z;
}
