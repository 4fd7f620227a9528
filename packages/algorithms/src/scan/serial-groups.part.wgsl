fn value_at(tile: u32) -> u32 {
  let sum = prefixes[params.prefixes_base + min(tile, params.prefixes_length - 1u)];
  return select(neutral, sum, tile < params.prefixes_length);
}

@compute @workgroup_size(1)
fn scan_groups(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let super_group = group.y * grid.x + group.x;
  if (super_group >= params.supers_length) {
    return;
  }
  var groups: Line;
  climb_block(super_group, &groups);
  for (var i = 0u; i < 32u; i++) {
    var own: Line;
    climb_line(super_group, i, &own);
    for (var lane = 0u; lane < 32u; lane++) {
      let tile = super_group * 1024u + i * 32u + lane;
      if (tile < params.prefixes_length) {
        prefixes[params.prefixes_base + tile] = combine(before(&groups, i), before(&own, lane));
      }
    }
  }
  supers[params.supers_base + super_group] = groups[31];
}
