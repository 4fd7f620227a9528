// Loads of single elements, of which those beyond the end are neutral.

fn element(index: u32) -> u32 {
  // No branch: reads the last element where there is none.
  let bits = bitcast<u32>(input[params.input_base + min(index, params.input_length - 1u)]);
  return select(neutral, encode(bits), index < params.input_length);
}

fn load(vector: u32) -> vec4<u32> {
  let first = vector * 4u;
  return vec4<u32>(element(first), element(first + 1u), element(first + 2u), element(first + 3u));
}
