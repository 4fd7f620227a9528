// run: workgroups=1,1,1
// buffer out: u32[16] values(20)
//
// Copies between parts of local variables: nvcc loses the member behind each part if C++'s `=` copies it.

struct Point { at: vec3f }
struct Pair { first: Point, n: u32, second: Point, m: u32 }
struct Flag { n: u32, is_set: array<bool, 1> }
struct Flags { first: array<Flag, 1>, n: u32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;
var<private> kept: Pair;
fn made(x: u32) -> Pair { var p: Pair; p.n = x; return p; }
fn put(p: ptr<function, Point>, value: Point) { *p = value; }
@compute @workgroup_size(1) fn main() {
  let x = out[0];
  { var a: Pair; var b: Pair; a.first = b.first; out[1] = a.n + 5u; }
  { var a = made(x); let b = made(3u); a.first = b.first; out[2] = a.n; }
  { var a = made(x); var b = made(4u); put(&a.first, b.second); out[3] = a.n; }
  { var b = made(5u); kept.n = x; kept.first = b.first; out[4] = kept.n; }
  { var a = made(x); var b = made(6u); let t = a.first; a.first = b.first; b.first = t; out[5] = a.n; out[6] = b.n; }
  { var a: Pair; a = Pair(Point(vec3f(1)), x, Point(vec3f(3)), 4u); var b: Pair; b.first = a.second; a.first = b.first; out[7] = a.n + u32(a.first.at.y); }
  { var a: Flags; var b: Flags; a.n = x; a.first[0] = b.first[0]; out[8] = a.n; }
  { var a = array(made(x), made(7u)); var b: Pair; a[0].first = b.first; out[9] = a[0].n + a[1].n; }
}
