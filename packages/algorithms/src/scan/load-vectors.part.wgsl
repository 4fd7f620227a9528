// Loads of whole tiles, by vectors of four.

fn load(vector: u32) -> vec4<u32> {
  let bits = bitcast<vec4<u32>>(input[params.input_base + vector]);
  if (encodeAs == 0u) {
    return bits;
  }
  return vec4<u32>(encode(bits.x), encode(bits.y), encode(bits.z), encode(bits.w));
}
