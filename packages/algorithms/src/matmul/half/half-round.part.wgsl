// Sums rounded from f32 to the nearest f16, ties to even, two in a word; beyond the largest f16 to infinity. By integers, since WGSL leaves the rounding
// of conversions open.
alias Part = vec2<f32>;

@group(0) @binding(2) var<storage, read_write> to: array<u32>;

fn half_bits(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return sign | 0x7e00u;
  }
  // From 65520 on.
  if (magnitude >= 0x477ff000u) {
    return sign | 0x7c00u;
  }
  // Below 2^-14 an f16 is a multiple of 2^-24.
  if (magnitude < 0x38800000u) {
    return sign | u32(round(bitcast<f32>(magnitude) * 16777216.0));
  }
  return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
}

@compute @workgroup_size(64, 4)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  let place = place_of(workgroup, workgroups, local);
  if (place.is_inside) {
    let pair = sum_of_parts(place.row, place.column);
    to[params.to_base + place.row * params.to_stride + place.column] = half_bits(pair.x) | (half_bits(pair.y) << 16u);
  }
}
