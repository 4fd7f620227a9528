// Composite values in expressions, some parts of which are named constants.
// run: workgroups=2,2,3
// buffer output: u32[36]
struct S { a: array<u32, 3>, b: f32 }

const numbers = array(5, 6, 7);
const s = S(numbers, 1.5);
@group(0) @binding(0) var<storage, read_write> output: array<u32>;

fn pick(x: array<array<u32, 3>, 2>, i: u32) -> u32 { return x[1][i]; }

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3u) {
  let at = 3 * (id.x + 2 * id.y + 4 * id.z);
  let pair = array(numbers, numbers);
  var t = S(numbers, 2.5);
  t.a[id.x] += u32(pair[id.y][id.z]);
  output[at] = t.a[id.z] + pick(array(array<u32, 3>(numbers[0], 9, numbers[2]), s.a), id.x);
  let both = array(s, S(numbers, 4), S(array(id.x, 1, id.y), 8));
  output[at + 1] = both[id.z].a[id.y] + u32(both[id.x].b);
  output[at + 2] = array(S(s.a, 3), S(array<u32, 3>(), 7))[id.y].a[id.x];
}
