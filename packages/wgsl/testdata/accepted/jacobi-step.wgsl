// run: workgroups=2,3,1 tolerance=ulp:4,absolute:0.000001
// buffer params: f32[4] values(0.25)
// buffer u: f32[300] random(0, 1)
// buffer next: f32[300]

struct Params { quarter: f32, }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> u: array<f32>;
@group(0) @binding(2) var<storage, read_write> next: array<f32>;
override ROWS = 15u;
override COLS = 20u;

fn at(row: u32, col: u32) -> f32 { return u[row * COLS + col]; }

@compute @workgroup_size(16, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.y + 1u;
  let col = id.x + 1u;
  if row >= ROWS - 1u || col >= COLS - 1u { return; }
  next[row * COLS + col] = params.quarter * (at(row - 1u, col) + at(row + 1u, col) + at(row, col - 1u) + at(row, col + 1u));
}
