// run: workgroups=1,1,1
// buffer out: f32[256]

@group(0) @binding(0) var<storage, read_write> out: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let a = vec2f(f32(i), 1.0);
  let b = vec3f(a, 2.0);
  let c = vec4f(3.0, a, 4.0);
  let d = vec4f(a, a.yx);
  let e = vec4f(b, 9.0);
  let f = vec4(5.0, b);
  let g = vec3(a.x, a);
  let h = vec4<f32>();
  let k = vec4(f32(i));
  out[i] = a.xyxy + b.xyzx + c + d * 2.0 + e + f + g.zyxx + h + k;
}
