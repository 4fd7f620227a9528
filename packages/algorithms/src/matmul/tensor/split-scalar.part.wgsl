// Any view.
@group(0) @binding(1) var<storage, read> x: array<f32>;

fn load_1(row: u32, column: u32) -> f32 {
  if (column >= params.columns) {
    return 0.0;
  }
  return x[params.x_base + row * params.x_stride + column];
}

// Four elements of a row; zeros past its end.
fn load_4(row: u32, column4: u32) -> vec4<f32> {
  let column = column4 * 4u;
  return vec4<f32>(load_1(row, column), load_1(row, column + 1u), load_1(row, column + 2u), load_1(row, column + 3u));
}
