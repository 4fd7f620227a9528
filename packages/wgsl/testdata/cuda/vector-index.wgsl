// run: workgroups=1,1,1
// buffer data: f32[16] iota(0, 1)
// buffer out: f32[16]
// A component chosen at run time: selects for vectors in registers, an address for those in memory.
@group(0) @binding(0) var<storage, read> data: array<vec4f, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  var v = data[i];
  v[(i + 1u) % 4u] = v[i] * 10.0;
  var m = mat2x4f(v, data[3u - i]);
  m[i % 2u][3u - i] += 0.25;
  out[i] = m[0] + m[1];
  out[i][i] = data[3u - i][i];
}
