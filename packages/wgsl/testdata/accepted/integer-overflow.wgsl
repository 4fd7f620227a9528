// run: workgroups=1,1,1
// buffer out: i32[64]

@group(0) @binding(0) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let big = 2147483647 - i32(i % 2u);
  let a = big + i32(i);
  let b = (-2147483647 - 1) - i32(i);
  let c = big * i32(i);
  let d = -((-2147483647 - 1) + i32(i % 3u));
  out[i] = (a ^ b) + c + d;
}
