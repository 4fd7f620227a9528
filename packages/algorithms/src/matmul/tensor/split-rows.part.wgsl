// The f16 parts of the rows of A: a workgroup finds the largest and the least element of a row, then splits the row. The host puts in front how
// elements are loaded, and what the parts are.

@group(0) @binding(2) var<storage, read_write> parts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> extremes: array<vec2<u32>>;

const THREADS = 256u;
var<workgroup> largest: array<u32, THREADS>;
var<workgroup> least: array<u32, THREADS>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.y * workgroups.x + workgroup.x;
  if (row >= params.part_rows) {
    return;
  }
  var found = vec2<u32>();
  if (row < params.rows) {
    for (var column4 = thread; column4 * 4u < params.columns; column4 += THREADS) {
      found = widened(found, load_4(row, column4));
    }
  }
  largest[thread] = found.x;
  least[thread] = found.y;
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (thread < half) {
      largest[thread] = max(largest[thread], largest[thread + half]);
      least[thread] = max(least[thread], least[thread + half]);
    }
    workgroupBarrier();
  }
  let range = vec2<u32>(largest[0], least[0]);
  if (thread == 0u) {
    extremes[row] = range;
  }
  let scale = scale_of(range.x);
  let to = params.parts_base + row * params.parts_stride;
  for (var column8 = thread; column8 * 8u < params.part_columns; column8 += THREADS) {
    var first = vec4<f32>();
    var second = vec4<f32>();
    if (row < params.rows) {
      first = load_4(row, column8 * 2u) * scale;
      second = load_4(row, column8 * 2u + 1u) * scale;
    }
    let split = split_8(first, second, scale == 0.0);
    parts[to + column8] = split.high;
    parts[to + params.low + column8] = split.low;
  }
}
