// The largest and the least element of each column of B. An invocation looks at four columns of 16 rows; `extremes`, two words a column, begins at 0.

@group(0) @binding(3) var<storage, read_write> extremes: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let column4 = workgroup.x * 64u + thread;
  if (column4 * 4u >= params.columns) {
    return;
  }
  var found: array<vec2<u32>, 4>;
  for (var i = 0u; i < 16u; i++) {
    // Past the end the last row once more.
    let x4 = load_4(min(workgroup.y * 16u + i, params.rows - 1u), column4);
    found[0] = widened(found[0], vec4<f32>(x4.x));
    found[1] = widened(found[1], vec4<f32>(x4.y));
    found[2] = widened(found[2], vec4<f32>(x4.z));
    found[3] = widened(found[3], vec4<f32>(x4.w));
  }
  for (var i = 0u; i < 4u; i++) {
    let at = (column4 * 4u + i) * 2u;
    atomicMax(&extremes[at], found[i].x);
    atomicMax(&extremes[at + 1u], found[i].y);
  }
}
