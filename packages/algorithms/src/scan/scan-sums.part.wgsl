// A workgroup combines a tile, in the order that scan-operation.part.wgsl describes.

@compute @workgroup_size(256)
fn scan_sums(at: Invocation, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let tile = group.y * grid.x + group.x;
  if (tile >= params.sums_length) {
    return;
  }
  let place = place_of(at);
  let first = tile * 1024u + place;
  let v0 = load(first);
  let v1 = load(first + 256u);
  let v2 = load(first + 512u);
  let v3 = load(first + 768u);
  let sums_of_vectors = vec4<u32>(within(v0).w, within(v1).w, within(v2).w, within(v3).w);
  let prefixes = block_prefixes(at, sums_of_vectors);
  if (place == 0u) {
    sums[params.sums_base + tile] = prefixes.total;
  }
}
