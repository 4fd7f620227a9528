fn observe(change: u32, before: vec4<f32>, after: vec4<f32>, valid: u32) -> u32 {
  return change;
}

fn finish(change: u32, thread: u32) {
}
