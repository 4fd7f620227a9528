// run: workgroups=1,1,1
// buffer out: i32[64]

struct Pair { low: i32, high: vec2i }

const table = array<i32, 4>(3, -5, 11, 8);
const pair = Pair(7, vec2i(1, 2));

@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> counts: array<i32, 4> = table;
var<private> both: Pair = pair;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  counts[i % 4u] += i32(i);
  both.high.y *= 5;
  out[i] = counts[0] + counts[1] * 3 + counts[2] * 5 + counts[3] * 7 + both.low + both.high.x + both.high.y + table[i % 4u];
}
