// run: workgroups=2,1,1
// buffer input: i32[512] random
// buffer out: i32[2048]
// Minimums and maximums of three signed integers, some negated: ptxas 13.0 loses the negation in machine code for sm_90.
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<storage, read> input: array<vec4i>;

fn put(i: u32, column: u32, value: i32) { out[i * 16u + column] = value; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let v = input[i];
  put(i, 0u, max(max(-v.x, v.y), v.z));
  put(i, 1u, max(v.z, max(v.y, -v.x)));
  put(i, 2u, min(min(v.y, -v.x), v.z));
  put(i, 3u, min(max(-v.x, v.y), v.z));
  put(i, 4u, max(max(-v.x, -v.y), -v.z));
  // The compiler makes maximums of conditions too.
  var most = v.x;
  if (-v.y > most) { most = -v.y; }
  if (v.z > most) { most = v.z; }
  put(i, 5u, most);
  put(i, 6u, select(select(v.w, -v.y, -v.y < v.w), v.x, v.x < select(v.w, -v.y, -v.y < v.w)));
  var best = v.w;
  for (var c = 0u; c < 4u; c++) { best = max(best, -v[c]); }
  put(i, 7u, best);
  // Negations that the compiler finds.
  put(i, 8u, max(max(v.y, (v.z - v.x) - v.z), v.w));
  put(i, 9u, max(max(v.y, abs(min(v.x, -7))), v.w));
  put(i, 10u, min(min(v.y, v.x / -1), v.w));
  put(i, 11u, min(min(v.y, bitcast<i32>(0u - bitcast<u32>(v.x))), v.w));
  put(i, 12u, max(max(v.y, ~v.x + 1), v.w));
  put(i, 13u, bitcast<i32>(max(max(bitcast<u32>(-v.x), bitcast<u32>(v.y)), bitcast<u32>(v.z))));
  put(i, 14u, i32(all(max(max(v, -v.yzwx), v.zwxy) == max(v.zwxy, max(-v.yzwx, v)))));
  put(i, 15u, clamp(-v.x, min(v.y, v.z), max(v.y, v.z)));
}
