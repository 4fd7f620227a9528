struct Params { x_base: u32, x_length: u32, low: f32, high: f32 }

@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;

/** Moves every element into [low, high]. */
@compute @workgroup_size(64)
fn clip(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {
  let i = (group.x + group.y * grid.x) * 64u + lane;
  if (i < params.x_length) { x[params.x_base + i] = clamp(x[params.x_base + i], params.low, params.high); }
}
