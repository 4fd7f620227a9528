// run: workgroups=1,1,1
// buffer a: i32[64] values(-5, 5, 0, -2147483648, 2147483647, -1)
// buffer o: i32[256]
// A signed minimum of an unsigned maximum, and the other way around, with zeros that nvcc does not know and ptxas
// does, which took 0 for all of them.
@group(0) @binding(0) var<storage, read> a: array<i32, 64>;
@group(0) @binding(1) var<storage, read_write> o: array<i32, 256>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let odd = 1u;
  let zero = firstTrailingBit(odd);
  let x = a[i];
  o[i] = min(i32(max(u32(x), zero)), i32(zero));
  o[i + 64u] = i32(max(u32(min(x, i32(zero))), zero));
  o[i + 128u] = min(i32(max(zero, u32(x))), 0);
  o[i + 192u] = i32(min(u32(max(x, i32(zero))), zero));
}
