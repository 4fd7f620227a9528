// An f32 as two f16: x · s = high + low · 2^-11 with a power of two s for each row of A and each column of B, which brings the largest element
// into [2^14, 2^15) (Ootomo and Yokota, Int. J. High Perform. Comput. Appl. 36, 2022).

// Of a row or column: the bits of the largest |x|, and those of the least |x| > 0 taken from 2^32 - 1; 0 without an element.
fn widened(range: vec2<u32>, x: vec4<f32>) -> vec2<u32> {
  let bits = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
  let present = select(bits, vec4<u32>(0xffffffffu), bits == vec4<u32>());
  let high = max(max(bits.x, bits.y), max(bits.z, bits.w));
  let low = ~min(min(present.x, present.y), min(present.z, present.w));
  return max(range, vec2<u32>(high, low));
}

fn exponent_of(largest: u32) -> i32 {
  return i32(largest >> 23u) - 127;
}

// Infinite, NaN, or so small that scaling could lose bits: products with it are formed in f32.
fn is_special(largest: u32) -> bool {
  return largest >= 0x7f800000u || (largest != 0u && exponent_of(largest) < -76);
}

// Some element other than 0 is below 2^-27 of the largest.
fn is_wide(largest: u32, least: u32) -> bool {
  return ~least < max(largest, 27u << 23u) - (27u << 23u);
}

// The factor of a row or column; 0 where the parts are not used.
fn scale_of(largest: u32) -> f32 {
  return select(bitcast<f32>(u32(141 - exponent_of(largest)) << 23u), 0.0, largest == 0u || is_special(largest));
}

struct Split {
  high: vec4<u32>,
  low: vec4<u32>,
}

fn split_2(x: vec2<f32>) -> vec2<u32> {
  let high = pack2x16float(x);
  return vec2<u32>(high, pack2x16float((x - unpack2x16float(high)) * 2048.0));
}

// Zeros where the row or column takes no part: it may hold infinities.
fn split_8(first: vec4<f32>, second: vec4<f32>, is_zero: bool) -> Split {
  if (is_zero) {
    return Split();
  }
  let a = split_2(first.xy);
  let b = split_2(first.zw);
  let c = split_2(second.xy);
  let d = split_2(second.zw);
  return Split(vec4<u32>(a.x, b.x, c.x, d.x), vec4<u32>(a.y, b.y, c.y, d.y));
}
