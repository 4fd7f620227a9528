@group(0) @binding(1) var<storage, read> a: array<Element>;

fn load_a4(row: u32, k4: u32) -> vec4<Element> {
  let first = params.a_base + row * params.a_stride + k4 * 4u;
  return vec4<Element>(a[first], a[first + 1u], a[first + 2u], a[first + 3u]);
}

fn load_a(row: u32, k: u32) -> Element {
  return a[params.a_base + row * params.a_stride + k];
}
