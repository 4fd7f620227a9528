// Halo cells come from the block's own ring.

// Row `row` counted from the upper halo, which is 0.
fn load_row(row: u32, vector: u32) -> vec4<f32> {
  return u[params.u_base + (row + params.top - 1u) * params.u_stride + params.lead + vector];
}

fn load_left(row: u32, vector: u32) -> f32 {
  return u[params.u_base + (row + params.top) * params.u_stride + params.lead + vector - 1u].w;
}

fn load_right(row: u32, vector: u32) -> f32 {
  return u[params.u_base + (row + params.top) * params.u_stride + params.lead + vector + 1u].x;
}
