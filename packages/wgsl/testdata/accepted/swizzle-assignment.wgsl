// run: workgroups=1,1,1
// buffer out: f32[64] iota(0, 1)
requires swizzle_assignment;

struct S { v: vec4f }
@group(0) @binding(0) var<storage, read_write> out: array<S>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
  var v = vec4f(1.0, 2.0, 3.0, f32(i));
  v.xy = v.zw;
  v.zyx = v.xyz * 2.0;
  v.wx += vec2f(10.0, 20.0);
  v.yz *= 2.0;
  out[i].v.xz = v.wy;
  out[i].v.yw -= v.xx;
}
