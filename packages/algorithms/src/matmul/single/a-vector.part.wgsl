// Rows of A start at multiples of four elements.
@group(0) @binding(1) var<storage, read> a: array<vec4<Element>>;

fn load_a4(row: u32, k4: u32) -> vec4<Element> {
  return a[params.a_base + row * params.a_stride + k4];
}

fn load_a(row: u32, k: u32) -> Element {
  return a[params.a_base + row * params.a_stride + k / 4u][k % 4u];
}
