// run: workgroups=1,1,1
// buffer out: u32[16] values(20)
// buffer stored: u32[4] values(20)
//
// nvcc loses the store to `out[0]` if the function `pick` takes its vector by value.
struct Point { @align(16) at: vec3u }
@group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;
@group(0) @binding(1) var<storage, read_write> stored: Point;
var<private> kept: Point;
var<private> count: u32 = 1u;
var<private> order: array<u32, 4> = array<u32, 4>(1u, 0u, 2u, 1u);
fn pick(v: vec3u, i: u32) -> u32 { if i == 0u { return v.x; } if i == 1u { return v.y; } return v.z; }
fn next() -> u32 { count += 1u; order[count & 3u] ^= 0u; return count & 3u; }
fn step(p: ptr<function, u32>) -> u32 { *p += 1u; return *p & 1u; }
@compute @workgroup_size(1) fn main() {
  var k = 3u; var sum = 1u;
  var own: Point;
  sum = sum * 3u + stored.at.y;
  stored.at[order[next() & 3u]]++;
  let p = &kept.at;
  let copied = own; sum = sum * 7u + pick(copied.at, next());
  stored.at[step(&k)] ^= (pick(*p, next()) ^ own.at.y);
  out[0] = sum; out[1] = k; out[2] = count; out[3] = own.at.y + kept.at.x * 3u;
}
