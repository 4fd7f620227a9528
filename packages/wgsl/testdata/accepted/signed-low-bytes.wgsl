// run: workgroups=1,1,1
// buffer given: u32[128] random
// buffer out: i32[256]
// Sums that are limited to a signed byte, of the highest bits of unsigned integers: for sm_100, with less optimization, nvcc
// took a byte that begins at bit 28, with its sign, for the low byte of `x >> 28`.
@group(0) @binding(0) var<storage, read> given: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<i32, 256>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let s = bitcast<i32>(given[i]);
  let x = given[i + 64u];
  out[i] = clamp((s >> 24u) + i32(x >> 28u), -128i, 127i);
  out[i + 64u] = clamp((s >> 24u) + i32(x >> 31u), -128i, 127i);
  out[i + 128u] = clamp((s >> 24u) - (bitcast<i32>(x) >> 31u), -128i, 127i);
  out[i + 192u] = clamp((s >> 24u) + i32(x >> 24u), -128i, 127i);
}
