// The f16 parts of the columns of B: an invocation splits eight columns of eight rows. The parts have a multiple
// of 64 rows.

@group(0) @binding(2) var<storage, read_write> parts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> extremes: array<vec2<u32>>;

@compute @workgroup_size(16, 8)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let column8 = workgroup.x * 16u + local.x;
  if (column8 * 8u >= params.part_columns) {
    return;
  }
  var scales: array<f32, 8>;
  for (var i = 0u; i < 8u; i++) {
    scales[i] = scale_of(extremes[column8 * 8u + i].x);
  }
  let first_scale = vec4<f32>(scales[0], scales[1], scales[2], scales[3]);
  let second_scale = vec4<f32>(scales[4], scales[5], scales[6], scales[7]);
  for (var i = 0u; i < 8u; i++) {
    let row = workgroup.y * 64u + i * 8u + local.y;
    let first = load_4(min(row, params.rows - 1u), column8 * 2u) * first_scale;
    let second = load_4(min(row, params.rows - 1u), column8 * 2u + 1u) * second_scale;
    // An infinity times 0 is no number: a column without parts is 0, as is what lies below the matrix.
    let is_used = row < params.rows;
    let split = split_8(
      select(vec4<f32>(), first, (first_scale > vec4<f32>()) & vec4<bool>(is_used)),
      select(vec4<f32>(), second, (second_scale > vec4<f32>()) & vec4<bool>(is_used)),
      false,
    );
    let to = params.parts_base + row * params.parts_stride + column8;
    parts[to] = split.high;
    parts[to + params.low] = split.low;
  }
}
