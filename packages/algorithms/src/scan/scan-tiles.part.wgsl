@compute @workgroup_size(256)
fn scan_tiles(at: Invocation, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let index = group.y * grid.x + group.x;
  if (index >= params.prefixes_length) {
    return;
  }
  // The tiles that were summed last first: they may still be in the cache.
  let tile = params.prefixes_length - 1u - index;
  let first = tile * 1024u + place_of(at);
  let prefix = prefixes[params.prefixes_base + tile];
  let v0 = load(first);
  let v1 = load(first + 256u);
  let v2 = load(first + 512u);
  let v3 = load(first + 768u);
  let p0 = within(v0);
  let p1 = within(v1);
  let p2 = within(v2);
  let p3 = within(v3);
  let before = block_prefixes(at, vec4<u32>(p0.w, p1.w, p2.w, p3.w)).before;
  finish(first, p0, combine(prefix, before.x));
  finish(first + 256u, p1, combine(prefix, before.y));
  finish(first + 512u, p2, combine(prefix, before.z));
  finish(first + 768u, p3, combine(prefix, before.w));
}
