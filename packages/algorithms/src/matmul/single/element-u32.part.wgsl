alias Element = u32;

// Wraps, as integer arithmetic does in WGSL.
fn multiply_add(x: u32, y: vec4<u32>, sum: vec4<u32>) -> vec4<u32> {
  return sum + x * y;
}

fn multiply_add_1(x: u32, y: u32, sum: u32) -> u32 {
  return sum + x * y;
}
