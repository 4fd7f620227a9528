// f of the block's inner cells, laid out as `next`.
@group(0) @binding(3) var<storage, read> source: array<vec4<f32>>;

fn load_source(row: u32, vector: u32) -> vec4<f32> {
  return source[params.source_base + row * params.source_stride + vector];
}
