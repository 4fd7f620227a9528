// run: workgroups=1,1,1
// buffer out: u32[128]
// buffer stored: u32[512] iota(5, 7)
// Components with an index at run time that a loop stores, beside others that it loads: nvcc took them for different ones
// on sm_100 and newer, and loaded before the loop.
@group(0) @binding(0) var<storage, read_write> out: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> stored: array<vec4<u32>, 128>;
var<workgroup> shared_vectors: array<vec4<u32>, 128>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var sum = i;
  for (var k = i & 1u; k < 9u; k += 2u) {
    let j = (i << 1u) | (k & 1u);
    sum += shared_vectors[j].w;
    shared_vectors[j][i & 3u] += sum + 1u;
  }
  out[i] = sum;
  for (var k = i & 1u; k < 9u; k += 2u) {
    let j = (i << 1u) | (k & 1u);
    sum += stored[j].w ^ stored[j].y;
    stored[j][(i >> 1u) & 3u] = sum;
  }
  out[i + 64u] = sum;
}
