// run: workgroups=1,1,1
// buffer data: f32[32] iota(0, 1)
// buffer out: f32[32] values(-1)

struct Packed { v: vec3f, s: f32, }
struct Pair { p: Packed, q: vec3f, }
@group(0) @binding(0) var<storage, read> data: array<Pair>;
@group(0) @binding(1) var<storage, read_write> out: array<Pair>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  var pair = data[3u - i];
  pair.p.v *= 2.0;
  pair.q.x = pair.p.s;
  out[i].p = pair.p;
  out[i].q = pair.q;
}
