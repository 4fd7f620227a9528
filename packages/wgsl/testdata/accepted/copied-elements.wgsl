// run: workgroups=1,1,1
// buffer data: u32[32] random(0, 3)
// buffer out: u32[96]

// Elements of arrays are copied where both positions are literals: nvcc joined members of two neighbours, and took the copy
// for undefined.
struct Flags {
  first: bool,
  pair: vec2<bool>,
  last: bool,
}
@group(0) @binding(0) var<storage, read> data: array<u32, 32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 96>;
var<private> kept: array<Flags, 4>;
var<workgroup> shared_flags: array<array<Flags, 4>, 32>;

fn bits(f: Flags) -> u32 {
  return u32(f.first) + u32(f.pair.x) * 2u + u32(f.pair.y) * 4u + u32(f.last) * 8u;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  var own: array<Flags, 4>;
  own[2] = own[1];
  kept[2] = kept[1];
  shared_flags[i][2] = shared_flags[i][1];
  var sums = vec3u();
  for (var k = 0u; k < 4u; k++) {
    sums = sums * 16u + vec3u(bits(own[k]), bits(kept[k]), bits(shared_flags[i][k]));
  }
  own[data[i]].first = true;
  own[3] = own[0];
  for (var k = 0u; k < 4u; k++) {
    sums.x = sums.x * 16u + bits(own[k]);
  }
  out[i] = sums.x;
  out[i + 32u] = sums.y;
  out[i + 64u] = sums.z;
}
