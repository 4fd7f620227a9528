// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

struct S { class_: u32 }
var<private> signed_: array<u32, 2> = array<u32, 2>(1, 2);
const NULL_ = 5u;
const register_ = 6u;
const M_PI = 3u;
fn clock(long: u32) -> u32 { let main_ = long; return main_ + 1u; }
fn asm_(char: u32) -> u32 { var int = char; int += 1u; return int; }
fn assert() -> u32 { return 9u; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let float = f32(i);
  let int_ = i32(i);
  var double: f32 = float * 2.0;
  let blockIdx = 1u; let threadIdx = 2u;
  var printf = clock(i) + asm_(blockIdx) + threadIdx + assert();
  out[i] = printf + u32(double) + NULL_ + register_ + M_PI + S(3u).class_ + signed_[1];
}
