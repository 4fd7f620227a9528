// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

alias Vector = vec3f;
alias Number = u32;
struct Pair { v: Vector, count: Number }
const Count = 3u;
alias List = array<Number, Count>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var v: Vector = Vector(f32(i));
  let p: Pair = Pair(v, 2u);
  let l: List = List(p.count, 3u, i);
  out[i] = u32(p.v.x) + l[1] + l[i % Count];
}
