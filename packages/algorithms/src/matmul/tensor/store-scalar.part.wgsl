// Any view of C.
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

fn store_4(row: u32, column4: u32, value: vec4<f32>) {
  let to = params.c_base + row * params.c_stride + column4 * 4u;
  for (var i = 0u; i < 4u; i++) {
    if (column4 * 4u + i < params.n) {
      c[to + i] = value[i];
    }
  }
}
