// Rows start at multiples of four elements, and are read in whole groups of four.
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;

// Four elements of a row; zeros past its end.
fn load_4(row: u32, column4: u32) -> vec4<f32> {
  let columns = vec4<u32>(column4 * 4u) + vec4<u32>(0u, 1u, 2u, 3u);
  return select(vec4<f32>(), x[params.x_base + row * params.x_stride + min(column4, (params.columns - 1u) / 4u)], columns < vec4<u32>(params.columns));
}
