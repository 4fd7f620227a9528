// Rows of B and C start at multiples of four elements, and their views' width is a multiple of four: columns from n on are padding.
@group(0) @binding(2) var<storage, read> b: array<vec4<Element>>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4<Element>>;

fn load_b4(k: u32, column4: u32) -> vec4<Element> {
  return b[params.b_base + k * params.b_stride + min(column4, (params.n - 1u) / 4u)];
}

fn store_c4(row: u32, column4: u32, value: vec4<Element>) {
  if (column4 * 4u < params.n) {
    c[params.c_base + row * params.c_stride + column4] = value;
  }
}
