fn climb_group(first: u32, own: ptr<function, Line>) {
  for (var lane = 0u; lane < 32u; lane++) {
    let sum = prefixes[params.prefixes_base + min(first + lane, params.prefixes_length - 1u)];
    (*own)[lane] = select(neutral, sum, first + lane < params.prefixes_length);
  }
  climb(own);
}

@compute @workgroup_size(1)
fn scan_groups(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let super_group = group.y * grid.x + group.x;
  if (super_group >= params.supers_length) {
    return;
  }
  var groups: Line;
  for (var i = 0u; i < 32u; i++) {
    var own: Line;
    climb_group(super_group * 1024u + i * 32u, &own);
    groups[i] = own[31];
  }
  climb(&groups);
  for (var i = 0u; i < 32u; i++) {
    let first = super_group * 1024u + i * 32u;
    var own: Line;
    climb_group(first, &own);
    for (var lane = 0u; lane < 32u; lane++) {
      if (first + lane < params.prefixes_length) {
        prefixes[params.prefixes_base + first + lane] = combine(before(&groups, i), before(&own, lane));
      }
    }
  }
  supers[params.supers_base + super_group] = groups[31];
}
