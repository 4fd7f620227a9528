// run: workgroups=2,1,1
// buffer out: u32[128]

struct S { a: u32, b: vec3f, c: array<i32, 5>, d: atomic<u32>, }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> plain: array<u32, 100>;
var<workgroup> nested: array<S, 3>;
var<workgroup> flag: bool;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
  var sum = plain[i] + plain[99];
  for (var k = 0; k < 3; k++) {
    sum += nested[k].a + u32(nested[k].b.y) + u32(nested[k].c[i % 5u]) + atomicLoad(&nested[k].d);
  }
  out[id.x] = sum + u32(flag) + 1u;
}
