// run: workgroups=1,1,1
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

struct Settings { scale: f32, offset: vec2f }
const weights = array(0.0625, 0.25, 0.375, 0.25, 0.0625);
const grid = array(array(1, 2, 3), array(4, 5, 6));
const settings = Settings(2.0, vec2(1.0, 3.5));
const corners = array(vec2f(-1, -1), vec2f(1, -1), vec2f(1, 1), vec2f(-1, 1));

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = weights[i % 5u] + f32(grid[i % 2u][i % 3u]) + settings.scale * settings.offset.y + corners[i % 4u].x;
}
