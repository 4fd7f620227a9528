fn value_at(vector: u32) -> u32 {
  return within(load(vector)).w;
}

@compute @workgroup_size(4)
fn scan_tiles(
  @builtin(local_invocation_index) place: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let tile = (group.y * grid.x + group.x) * 4u + place;
  if (tile >= params.prefixes_length) {
    return;
  }
  let prefix = prefixes[params.prefixes_base + tile];
  var lines: Line;
  climb_block(tile, &lines);
  for (var line = 0u; line < 32u; line++) {
    var own: Line;
    climb_line(tile, line, &own);
    for (var lane = 0u; lane < 32u; lane++) {
      let vector = tile * 1024u + line * 32u + lane;
      finish(vector, within(load(vector)), combine(prefix, combine(before(&lines, line), before(&own, lane))));
    }
  }
}
