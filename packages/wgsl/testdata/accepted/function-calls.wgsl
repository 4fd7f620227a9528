// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn early(i: u32) -> u32 {
  if i < 5u { return 0u; }
  var x = i;
  if i > 30u {
    x = 1u;
    return x;
  }
  return x * 2u;
}
fn fma3(a: u32, b: u32, c: u32) -> u32 { return a * b + c; }
fn square(x: u32) -> u32 { return x * x; }
@must_use fn constant() -> u32 { return 7u; }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = fma3(i, 3u, square(i)) + constant() + early(i);
}
