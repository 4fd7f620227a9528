// run: workgroups=1,1,1
// buffer input: i32[256] random
// buffer out: i32[1024]
// Complements as operands of nested minimums and maximums, whose other operands are sums with literals and negations: nvcc 13.0 did not end.
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<storage, read> input: array<vec4i>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let v = input[i];
  let u = bitcast<vec4u>(v);
  out[i] = max(max(v.y - 2, -v.z), ~v.x);
  out[i + 64u] = min(~v.x, min(5 - v.y, v.z + 7));
  out[i + 128u] = max(min(v.y - 2, -v.z), v.x ^ -1);
  out[i + 192u] = max(max(v.y - 2, -v.z), -1 - v.x);
  out[i + 256u] = bitcast<i32>(min(min(u.y - 2u, 0u - u.z), ~u.x));
  out[i + 320u] = bitcast<i32>(max(max(u.y - 2u, 0u - u.z), 0xffffffffu - u.x));
  var most = v.y - 2;
  if (-v.z > most) { most = -v.z; }
  if (~v.x > most) { most = ~v.x; }
  out[i + 384u] = most;
  let lower = select(-v.z, v.y - 2, v.y - 2 < -v.z);
  out[i + 448u] = select(~v.x, lower, lower < ~v.x);
  out[i + 512u] = max(max(v - 2, -v.yzwx), ~v.zwxy).x;
  out[i + 576u] = max(max(v - 2, -v.yzwx), vec4i(-1) - v.zwxy).y;
  out[i + 640u] = max(max(v - 2, -v.yzwx), v.zwxy ^ vec4i(-1)).z;
  out[i + 704u] = clamp(max(max(v.y - 2, -v.z), ~max(v.x, v.w)), -9, 2147480000);
  var w = v.x;
  w ^= -1;
  out[i + 768u] = max(max(v.y - 2, -v.z), w);
  out[i + 832u] = max(max(v - 2, -v.yzwx), vec4i(-1) - v.x).w;
}
