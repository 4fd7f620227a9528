// run: workgroups=1,1,1
// buffer in0: i32[2] values(-42, 17)
// buffer out: i32[3]

@group(0) @binding(0) var<storage, read> in0: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

fn folded() -> i32 {
  const a = i32(-42);
  const b = i32(17);
  const result = abs(a) + max(a, b) * min(a, b) + clamp(a, -20, b) + sign(a) + countOneBits(a) + firstLeadingBit(b) + countTrailingZeros(a) + reverseBits(b) + extractBits(a, 3u, 7u) + insertBits(a, b, 2u, 5u) + countLeadingZeros(b) + firstTrailingBit(a);
  return result;
}

fn computed(a: i32, b: i32) -> i32 {
  return abs(a) + max(a, b) * min(a, b) + clamp(a, -20, b) + sign(a) + countOneBits(a) + firstLeadingBit(b) + countTrailingZeros(a) + reverseBits(b) + extractBits(a, 3u, 7u) + insertBits(a, b, 2u, 5u) + countLeadingZeros(b) + firstTrailingBit(a);
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
  out[2] = i32(out[0] == out[1]);
}
