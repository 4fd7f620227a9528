// run: workgroups=1,1,1
// buffer rows: u32[2048] iota(1, 77)
// buffer matrices: u32[256] iota(5, 13)
// buffer out: u32[96]
// One index for elements of different sizes that begin at one place: nvcc took their parts for each other on sm_100 and newer.
@group(0) @binding(0) var<storage, read_write> rows: array<array<array<vec4<u32>, 4>, 4>, 32>;
@group(0) @binding(1) var<storage, read> matrices: array<mat2x2<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<u32, 96>;
var<workgroup> pairs: array<array<array<vec2<u32>, 2>, 2>, 32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let c = (i >> 1u) & 1u;
  out[i] = dot(rows[i][c][0], vec4(1u, 3u, 5u, 7u)) + dot(rows[i][0][c], vec4(9u, 11u, 13u, 15u)) * 3u;
  let wide = bitcast<vec2<u32>>(matrices[c][0]);
  let narrow = bitcast<vec2<u32>>(matrices[0][c]);
  out[i + 32u] = dot(wide, vec2(1u, 3u)) + dot(narrow, vec2(5u, 7u)) * 3u;
  pairs[i][0][1] = vec2(i, 5u);
  pairs[i][1][0] = vec2(7u, i * 3u);
  out[i + 64u] = dot(pairs[i][c][0], vec2(1u, 3u)) + dot(pairs[i][0][c], vec2(5u, 7u)) * 3u;
  rows[i][c][3] = vec4(i);
  rows[i][3][c] = vec4(i + 1u, 2u, 3u, 4u);
}
