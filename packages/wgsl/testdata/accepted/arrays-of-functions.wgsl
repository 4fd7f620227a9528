// run: workgroups=2,1,1
// buffer given: u32[128] random
// buffer result: u32[128]
// Arrays of an inlined function, of its caller, and of a function that is called later: a compiler put the first two in one
// place of memory, and took the end of the first function for the end of both, so that the third came on top.

@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;

fn before(i: u32) -> u32 {
  var a: array<u32, 8>;
  a[i & 7u] = i;
  return a[(i >> 3u) & 7u];
}

fn after(i: u32, passed: array<u32, 8>) -> u32 {
  var b: array<u32, 9>;
  b[i % 9u] = 5u;
  b[(i >> 4u) % 9u] += passed[i & 7u];
  return b[(i >> 5u) % 9u] + passed[(i >> 9u) & 7u];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let x = given[id.x];
  let s = before(x);
  result[id.x] = s + after(x, array<u32, 8>(s, 1u, 2u, x, 4u, x, 7u, 8u));
}
