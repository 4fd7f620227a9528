// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

var<private> counter: u32 = 3u;
var<private> table: array<u32, 4> = array<u32, 4>(1, 2, 3, 4);
var<private> offset = vec2f(0.5, 7.0);
fn bump() { counter *= 2u; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  counter += i;
  bump();
  bump();
  table[i % 4u] = counter;
  out[i] = counter * 10u + table[0] + table[1] + table[2] + table[3] + u32(offset.y);
}
