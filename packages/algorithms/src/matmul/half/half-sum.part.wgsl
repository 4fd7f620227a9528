// C in f32 from the parts of a split K.
alias Part = vec4<f32>;

@group(0) @binding(2) var<storage, read_write> to: array<vec4<f32>>;

@compute @workgroup_size(64, 4)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  let place = place_of(workgroup, workgroups, local);
  if (place.is_inside) {
    to[params.to_base + place.row * params.to_stride + place.column] = sum_of_parts(place.row, place.column);
  }
}
