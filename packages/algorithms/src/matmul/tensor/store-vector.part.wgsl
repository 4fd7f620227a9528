// Rows of C start at multiples of four elements, and their view's width is a multiple of four: columns from n on are padding.
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>;

fn store_4(row: u32, column4: u32, value: vec4<f32>) {
  c[params.c_base + row * params.c_stride + column4] = value;
}
