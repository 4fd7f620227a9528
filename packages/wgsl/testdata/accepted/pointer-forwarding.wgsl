// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

struct S { a: u32, b: array<u32, 3>, c: vec4u }
fn touch(p: ptr<function, u32>, by: u32) { *p += by; }
fn outer(s: ptr<function, S>, k: u32) {
  touch(&(*s).a, 10u);
  touch(&s.b[k], 20u);
  (*s).c.x *= 3u;
  s.c[3] += 1u;
  inner(&(*s).b);
}
fn inner(b: ptr<function, array<u32, 3>>) {
  (*b)[1] += 100u;
  b[2] = b[0];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var s = S(1u, array<u32, 3>(2u, 3u, 4u), vec4u(5u, 6u, 7u, 8u));
  outer(&s, i % 3u);
  touch(&s.b[i % 3u], 1000u);
  touch(&s.a, 1u);
  out[i] = s.a + s.b[0] + s.b[1] * 2u + s.b[2] * 3u + s.c.x + s.c.w;
}
