// run: workgroups=1,1,1
// buffer params: u32[32] iota(1, 1)
// buffer out: u32[12]

struct Inner { x: u32, y: vec2u, }
struct Params {
  a: u32,
  b: vec3u,
  c: u32,
  d: vec2u,
  @align(16) inner: Inner,
  e: array<vec4u, 2>,
  @size(16) f: u32,
  g: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(1)
fn main() {
  out[0] = params.a;
  out[1] = params.b.z;
  out[2] = params.c;
  out[3] = params.d.y;
  out[4] = params.inner.x;
  out[5] = params.inner.y.x;
  out[6] = params.e[1].z;
  out[7] = params.f;
  out[8] = params.g;
  let copy = params;
  out[9] = copy.inner.y.y;
  let second = params.e;
  out[10] = second[0].w;
  out[11] = params.b[params.a];
}
