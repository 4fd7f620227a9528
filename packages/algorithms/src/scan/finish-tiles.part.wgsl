// A workgroup scans a tile, from what comes before it, in the order that scan-operation.part.wgsl describes.

fn finish(index: u32, inclusive: vec4<u32>, before: u32) {
  let exclusive = params.exclusive != 0u;
  let own = select(inclusive, vec4<u32>(neutral, inclusive.xyz), exclusive);
  let keys = combine_vectors(own, vec4<u32>(before));
  store(
    index,
    vec4<u32>(
      result_of(keys.x, exclusive),
      result_of(keys.y, exclusive),
      result_of(keys.z, exclusive),
      result_of(keys.w, exclusive),
    ),
  );
}
