// run: workgroups=1,1,1
// buffer given: u32[128] random
// buffer changed: u32[512] random
// buffer out: u32[64]
// buffer n: u32[4] values(3, 1, 2, 0)
enable f16;
// Two branches that end with a load, one from a buffer that is only read and one from a buffer that changes: nvcc made
// one load of both, through the cache that does not see changes.
struct B { p: vec2<u32>, q: u32, s: vec2<u32> }
@group(0) @binding(0) var<storage, read> given: array<vec3<u32>, 32>;
@group(0) @binding(1) var<storage, read_write> changed: array<vec3<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<uniform> n: vec4<u32>;
var<private> halves: array<f16, 16>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var y = i ^ 0x5bd1e995u;
  var z = i & 31u;
  var w = i << 27u;
  var sum = i;
  var rest: array<B, 12>;
  for (var k = i & 1u; k < 9u; k += 3u) {
    sum = sum * 7u + bitcast<u32>(vec2<f16>(halves[0], 0h));
    for (var l = 0u; l < n.x + 2u; l++) {
      for (var m = i & 1u; m < 9u; m += 2u) {
        changed[(i << 1u) + 1u][0] += sum;
        halves[(k / 12u) & 15u] = f16(sum & 1023u);
      }
      if (i < 23u) {
        sum = sum * 5u + rest[0].p.x;
        sum = sum * 7u + changed[(i << 1u) + 1u][0];
      } else {
        sum = sum * 7u + dot(given[i32(z % 32u)], vec3<u32>(1u, 3u, 5u));
        sum = sum * 7u + given[(y / 5u) % 32u].x;
      }
    }
  }
  sum = sum * 3u + rest[i32(w % 12u)].s.y;
  out[i] = sum ^ y ^ z ^ w;
}
