// run: workgroups=1,1,1
// buffer a: i32[32] special
// buffer out: i32[64]
// i32 arithmetic wraps around; where it cannot, it is written plainly.
@group(0) @binding(0) var<storage, read> a: array<i32, 32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32, 64>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let v = a[i];
  out[i] = (v + 2147483647) * v - -v;
  let small = i32(i) * 4 - 7;
  out[32 + i32(i)] = small + 1;
}
