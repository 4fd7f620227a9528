fn store(vector: u32, bits: vec4<u32>) {
  let first = vector * 4u;
  for (var i = 0u; i < 4u; i++) {
    if (first + i < params.input_length) {
      output[params.output_base + first + i] = bitcast<Element>(bits[i]);
    }
  }
}
