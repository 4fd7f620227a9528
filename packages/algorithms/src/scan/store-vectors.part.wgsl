fn store(vector: u32, bits: vec4<u32>) {
  output[params.output_base + vector] = bitcast<Element>(bits);
}
