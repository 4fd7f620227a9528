// Elements are bytes: red, green, blue and alpha of each pixel. A kernel binds them as words, so a word is a pixel. `stride` and `base` count
// words, `columns` counts elements.
struct Params {
  source_base: u32, source_stride: u32, source_rows: u32, source_columns: u32,
  result_base: u32, result_stride: u32, result_rows: u32,
  /** Rows of the source above the first row of the result: its halo. */
  halo: u32,
}

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn width() -> u32 { return params.source_columns / 4u; }

fn pixel(row: i32, column: i32) -> vec4f {
  let r = u32(clamp(row, 0, i32(params.source_rows) - 1));
  let c = u32(clamp(column, 0, i32(width()) - 1));
  return unpack4x8unorm(source[params.source_base + r * params.source_stride + c]);
}

fn store(id: vec3u, color: vec3f) {
  result[params.result_base + id.y * params.result_stride + id.x] = pack4x8unorm(vec4f(color, 1));
}

/** The mean of nine pixels. */
@compute @workgroup_size(8, 8)
fn blur(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= width() || id.y >= params.result_rows) { return; }
  var sum = vec3f();
  for (var dy = -1; dy <= 1; dy++) {
    for (var dx = -1; dx <= 1; dx++) { sum += pixel(i32(id.y + params.halo) + dy, i32(id.x) + dx).rgb; }
  }
  store(id, sum / 9);
}

/** The length of the gradient of the brightness (Sobel). */
@compute @workgroup_size(8, 8)
fn edges(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= width() || id.y >= params.result_rows) { return; }
  var gradient = vec2f();
  for (var dy = -1; dy <= 1; dy++) {
    for (var dx = -1; dx <= 1; dx++) {
      let light = dot(pixel(i32(id.y + params.halo) + dy, i32(id.x) + dx).rgb, vec3f(0.2126, 0.7152, 0.0722));
      gradient += light * vec2f(f32(dx * (2 - abs(dy))), f32(dy * (2 - abs(dx))));
    }
  }
  store(id, vec3f(min(1, length(gradient))));
}
