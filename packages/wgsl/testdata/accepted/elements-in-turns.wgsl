// run: workgroups=1,1,1
// buffer pairs: u32[256] iota(3, 17)
// buffer parts: u32[512] iota(3, 17)
// buffer out: u32[96]
// buffer n: u32[4] values(2, 1, 7, 0)
// Loops in which one of several elements is loaded and another one, or the same, is stored: nvcc reused what it had loaded
// in the round before, if a branch chose the element that is loaded, or a component was chosen at run time.
requires buffer_view;
struct Quad { a: u32, b: u32, c: u32, d: u32 }
@group(0) @binding(0) var<storage, read_write> pairs: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> parts: buffer;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<uniform> n: vec4<u32>;
var<workgroup> quads: array<vec4<u32>, 128>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = i * 2654435761u + n.x;
  var sum = x + 5u;
  for (var k = 0u; k < n.z; k += 2u) {
    if ((k & 1u) == 0u) {
      sum += pairs[((k * 3u) & 1u) * 32u + i][k & 1u];
    } else {
      sum += pairs[32u + i][(k + 1u) & 1u];
    }
    pairs[(x & 1u) * 32u + i][k & 1u] += sum;
  }
  out[i] = sum;
  for (var k = 0u; k < n.z; k++) {
    if ((x & 1u) == 0u) {
      sum ^= (*bufferView<array<Quad, 32>>(&parts, (x & 3u) * 512u))[i].a;
    } else {
      sum ^= (*bufferView<array<Quad, 32>>(&parts, 512u))[i].a;
    }
    if ((sum & 1u) == 0u) {
      (*bufferView<array<Quad, 32>>(&parts, (k & 3u) * 512u))[i].a += sum;
    }
  }
  out[i + 32u] = sum;
  for (var k = n.z; k > 0u; k--) {
    sum += quads[i * 4u + (k & 3u)].z;
    quads[i * 4u + ((k + 1u) & 3u)][(x & 1u) + 2u] ^= sum;
  }
  out[i + 64u] = sum;
}
