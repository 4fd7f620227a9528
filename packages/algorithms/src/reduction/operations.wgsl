// What every reduction kernel shares. It comes in each kernel's source after `alias Input = …; alias Output = …;`, the 32-bit
// types of the elements that come in and of the values that go out.
//
// Inside, elements are 32-bit patterns. Sums of integers wrap modulo 2^32. Minimum and maximum compare u32 keys that order
// like the elements: for f32, -0 sorts before +0, and any NaN becomes the key that wins, so that NaN propagates without
// floating-point comparisons (WGSL lets an implementation assume that there are no NaNs).

override operation: u32; // 0: sum of integers, 1: sum of f32, 2: minimum, 3: maximum
override encodeAs: u32; // elements that come in: 0 as they are, 1 i32 to keys, 2 f32 to keys
override decodeAs: u32; // values that go out: 0 as they are, 1 keys to i32, 2 keys to f32

fn combine(a: u32, b: u32) -> u32 {
  if (operation == 1u) {
    return bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b));
  }
  if (operation == 2u) {
    return min(a, b);
  }
  if (operation == 3u) {
    return max(a, b);
  }
  return a + b;
}

// Stands for elements beyond the end: 0 (also the bits of +0.0), or the key that loses.
fn identity() -> u32 {
  return select(0u, 0xffffffffu, operation == 2u);
}

fn keyOfNan() -> u32 {
  return select(0xffffffffu, 0u, operation == 2u);
}

fn encode(bits: u32) -> u32 {
  if (encodeAs == 1u) {
    return bits ^ 0x80000000u;
  }
  if (encodeAs == 2u) {
    let key = bits ^ select(0x80000000u, 0xffffffffu, bits >= 0x80000000u);
    return select(key, keyOfNan(), (bits & 0x7fffffffu) > 0x7f800000u);
  }
  return bits;
}

fn decode(key: u32) -> u32 {
  if (decodeAs == 1u) {
    return key ^ 0x80000000u;
  }
  if (decodeAs == 2u) {
    let bits = key ^ select(0xffffffffu, 0x80000000u, key >= 0x80000000u);
    return select(bits, 0x7fc00000u, key == keyOfNan());
  }
  return key;
}
