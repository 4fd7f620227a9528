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
  let exclusive = params.exclusive != 0u;
  let prefix = prefixes[params.prefixes_base + tile];
  var lines: Line;
  climb_tile(tile, &lines);
  for (var line = 0u; line < 32u; line++) {
    var own: Line;
    climb_line(tile, line, &own);
    for (var lane = 0u; lane < 32u; lane++) {
      let before_vector = combine(prefix, combine(before(&lines, line), before(&own, lane)));
      let vector = tile * 1024u + line * 32u + lane;
      let inclusive = within(load(vector));
      let keys = combine_vectors(
        select(inclusive, vec4<u32>(neutral, inclusive.xyz), exclusive),
        vec4<u32>(before_vector),
      );
      for (var i = 0u; i < 4u; i++) {
        if (vector * 4u + i < params.input_length) {
          output[params.output_base + vector * 4u + i] = bitcast<Element>(result_of(keys[i], exclusive));
        }
      }
    }
  }
}
