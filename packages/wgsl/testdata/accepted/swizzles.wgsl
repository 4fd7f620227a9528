// run: workgroups=1,1,1
// buffer out: f32[256]

@group(0) @binding(0) var<storage, read_write> out: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let v = vec4f(f32(i), 2.0, 3.0, 4.0);
  var w = v.wzyx;
  w = w.yyxx + v.rgba.brga;
  let p = v.xy.yx.x + w.xyz.zy.y;
  out[i] = vec4f(p, w.zw, v.bgr.z);
}
