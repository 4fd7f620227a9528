// run: workgroups=1,1,1
// buffer data: u32[256] random(0, 4294967295)
// buffer out: u32[320]
// Literals that nvcc does not compute and ptxas does: order, conversions and signs of what depends on them were wrong.
@group(0) @binding(0) var<storage, read> data: array<u32, 256>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 320>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = data[i];
  let b = data[i + 64u];
  let c = data[i + 128u];
  let d = data[i + 192u];
  let odd = 1u;
  let fraction = 0.5f;
  let zero = firstTrailingBit(odd);
  let other_zero = u32(floor(fraction));
  let one = zero + 1u;
  out[i] = select(3u, 5u, select(0u, 0xffffffffu, c > d) >= zero);
  out[i + 64u] = select(3u, 5u, select(0u, 0xffffffffu, b > d) >= other_zero);
  let bits = bitcast<u32>(f32(select(one, zero, a > c)));
  out[i + 128u] = bitcast<u32>(f32(bits));
  out[i + 192u] = select(0u, 0xffffffffu, a > c) ^ a;
  let top = zero ^ 0x80000000u;
  out[i + 256u] = select(3u, 5u, ((bitcast<i32>(c | top) >> 1u) ^ bitcast<i32>(zero)) > 5i);
}
