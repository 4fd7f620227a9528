// run: workgroups=1,1,1
// buffer data: u32[256] iota(1, 77)
// buffer rows: u32[512] iota(5, 13)
// buffer out: u32[96]
// Views of one place with vectors of different sizes as elements: nvcc took their parts for each other on sm_100 and newer.
requires buffer_view;

@group(0) @binding(0) var<storage, read> data: buffer;
@group(0) @binding(1) var<storage, read_write> rows: buffer;
@group(0) @binding(2) var<storage, read_write> out: array<u32, 96>;
var<workgroup> bytes: buffer<512>;

fn sum(wide: ptr<storage, array<vec4u, 16>>, narrow: ptr<storage, array<vec2u, 16>>, c: u32) -> u32 {
  return dot(wide[c], vec4(3u, 5u, 7u, 9u)) + dot(narrow[c], vec2(11u, 13u)) * 5u;
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let c = (i >> 1u) & 1u;
  let wide = bufferView<array<vec4u, 16>>(&data, 16u);
  let narrow = bufferView<array<vec2u, 16>>(&data, 16u);
  out[i] = dot(wide[c], vec4(1u, 3u, 5u, 7u)) + dot(narrow[c], vec2(9u, 11u)) * 13u;
  out[i + 32u] = sum(bufferView<array<vec4u, 16>>(&data, 32u), bufferView<array<vec2u, 16>>(&data, 32u), c);
  if (i == 5u) {
    bufferView<array<vec4u>>(&rows, 0u)[c + 1u] = vec4(i, 2u, 3u, 4u);
    bufferView<array<vec2u>>(&rows, 16u)[c] = vec2(7u, i);
    bufferView<array<vec4u>>(&rows, 64u)[c] = vec4(i);
    bufferView<array<vec2u>>(&rows, 64u)[c] = vec2(1u, i + 1u);
  }
  bufferView<array<vec4u, 32>>(&bytes, 0u)[i] = vec4(i, i + 1u, i + 2u, i + 3u);
  workgroupBarrier();
  out[i + 64u] = dot(bufferView<array<vec4u, 32>>(&bytes, 0u)[c], vec4(1u, 3u, 5u, 7u))
    + dot(bufferView<array<vec2u, 32>>(&bytes, 0u)[c], vec2(9u, 11u)) * 13u;
}
