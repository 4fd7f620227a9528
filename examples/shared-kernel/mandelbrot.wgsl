struct Params { counts_columns: u32, counts_rows: u32, center: vec2f, width: f32 }

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

/** How many steps z = z² + c stays within 2, up to 255, for each point of a rectangle. */
@compute @workgroup_size(8, 8)
fn mandelbrot(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= params.counts_columns || id.y >= params.counts_rows) { return; }
  let size = vec2f(params.width, params.width * f32(params.counts_rows) / f32(params.counts_columns));
  let c = params.center + size * ((vec2f(id.xy) + 0.5) / vec2f(f32(params.counts_columns), f32(params.counts_rows)) - 0.5);
  var z = vec2f();
  var count = 0u;
  while (count < 255u && dot(z, z) <= 4) {
    z = vec2f(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
    count++;
  }
  counts[id.y * params.counts_columns + id.x] = count;
}
