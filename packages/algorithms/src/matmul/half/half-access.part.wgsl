// A and B hold f16, two in a word, so that they need no device feature; C holds f32. Rows of all three start at multiples of four elements.
@group(0) @binding(1) var<storage, read> a: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> b: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> c: array<vec4<f32>>;

fn unpacked(words: vec2<u32>) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(words.x), unpack2x16float(words.y));
}

fn load_a4(row: u32, k4: u32) -> vec4<Element> {
  return unpacked(a[params.a_base + row * params.a_stride + k4]);
}

fn load_a(row: u32, k: u32) -> Element {
  return load_a4(row, k / 4u)[k % 4u];
}

fn load_b4(k: u32, column4: u32) -> vec4<Element> {
  return unpacked(b[params.b_base + k * params.b_stride + column4]);
}

fn store_c4(row: u32, column4: u32, value: vec4<Element>) {
  c[params.c_base + row * params.c_stride + column4] = value;
}
