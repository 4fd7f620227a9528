// run: workgroups=1,1,1
// buffer data: f32[64] iota(0, 1)
// buffer out: f32[64] values(-1)

@group(0) @binding(0) var<storage, read> data: array<vec3f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3f>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = data[15u - i].zyx;
  out[i].y += 0.5;
  if i == 3u { out[i] = vec3f(data[0].xy, 9.0); }
}
