// run: workgroups=1,1,1
// buffer a: i32[32] special
// buffer b: i32[32] values(0, -1, 3, -7)
// buffer out: i32[160]
// Division by 0 and MIN / -1 are defined; a constant divisor needs no guard.
@group(0) @binding(0) var<storage, read> a: array<i32, 32>;
@group(0) @binding(1) var<storage, read> b: array<i32, 32>;
@group(0) @binding(2) var<storage, read_write> out: array<i32, 160>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = a[i] / b[i];
  out[32u + i] = a[i] % b[i];
  out[64u + i] = i32(u32(a[i]) / u32(b[i]));
  out[96u + i] = i32(u32(a[i]) % u32(b[i]));
  out[128u + i] = a[i] / 5 + a[i] % 8 + i32(i / 4u);
}
