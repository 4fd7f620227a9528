fn value_at(vector: u32) -> u32 {
  return within(load(vector)).w;
}

@compute @workgroup_size(4)
fn scan_sums(
  @builtin(local_invocation_index) place: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let tile = (group.y * grid.x + group.x) * 4u + place;
  if (tile >= params.sums_length) {
    return;
  }
  var lines: Line;
  climb_block(tile, &lines);
  sums[params.sums_base + tile] = lines[31];
}
