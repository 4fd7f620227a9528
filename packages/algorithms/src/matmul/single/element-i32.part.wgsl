alias Element = i32;

// Wraps, as integer arithmetic does in WGSL.
fn multiply_add(x: i32, y: vec4<i32>, sum: vec4<i32>) -> vec4<i32> {
  return sum + x * y;
}

fn multiply_add_1(x: i32, y: i32, sum: i32) -> i32 {
  return sum + x * y;
}
