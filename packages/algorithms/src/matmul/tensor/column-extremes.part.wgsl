// The largest and the least element of each column of B. A workgroup looks at 256 columns of 64 rows, an invocation at four columns of 16 rows;
// `extremes`, two words a column, begins at 0.

@group(0) @binding(3) var<storage, read_write> extremes: array<atomic<u32>>;

var<workgroup> ranges: array<vec2<u32>, 1024>;

@compute @workgroup_size(64, 4)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let column4 = workgroup.x * 64u + local.x;
  var found: array<vec2<u32>, 4>;
  if (column4 * 4u < params.columns) {
    for (var i = 0u; i < 16u; i++) {
      // Past the end the last row once more.
      let x4 = load_4(min(workgroup.y * 64u + local.y * 16u + i, params.rows - 1u), column4);
      found[0] = widened(found[0], vec4<f32>(x4.x));
      found[1] = widened(found[1], vec4<f32>(x4.y));
      found[2] = widened(found[2], vec4<f32>(x4.z));
      found[3] = widened(found[3], vec4<f32>(x4.w));
    }
  }
  for (var i = 0u; i < 4u; i++) {
    ranges[local.y * 256u + local.x * 4u + i] = found[i];
  }
  workgroupBarrier();
  let column = workgroup.x * 256u + thread;
  if (column < params.columns) {
    let upper = max(ranges[thread], ranges[256u + thread]);
    let range = max(upper, max(ranges[512u + thread], ranges[768u + thread]));
    atomicMax(&extremes[column * 2u], range.x);
    atomicMax(&extremes[column * 2u + 1u], range.y);
  }
}
