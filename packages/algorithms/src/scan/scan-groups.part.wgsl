// A workgroup scans the sums of the 1,024 tiles of a super-group, in place: prefixes[tile] = G + T of what comes before the tile in it.

fn sum_of(tile: u32) -> u32 {
  let sum = prefixes[params.prefixes_base + min(tile, params.prefixes_length - 1u)];
  return select(neutral, sum, tile < params.prefixes_length);
}

@compute @workgroup_size(256)
fn scan_groups(at: Invocation, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let super_group = group.y * grid.x + group.x;
  if (super_group >= params.supers_length) {
    return;
  }
  let place = place_of(at);
  let first = super_group * 1024u + place;
  let sums_of_tiles = vec4<u32>(sum_of(first), sum_of(first + 256u), sum_of(first + 512u), sum_of(first + 768u));
  let found = block_prefixes(at, sums_of_tiles);
  for (var row = 0u; row < 4u; row++) {
    let tile = first + row * 256u;
    if (tile < params.prefixes_length) {
      prefixes[params.prefixes_base + tile] = found.before[row];
    }
  }
  if (place == 0u) {
    supers[params.supers_base + super_group] = found.total;
  }
}
