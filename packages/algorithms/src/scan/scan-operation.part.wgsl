// What all kernels of the scan share, behind operations.wgsl of the reduction.
//
// The order in which elements are combined, fixed by their global indices. A tile is 4,096 elements in 32 lines of 32 vectors of four; a group is
// 32 tiles, a super-group 32 groups. Over 32 values, KS is the inclusive prefix of Kogge and Stone: for d = 1, 2, 4, 8, 16,
// value[l] = value[l - d] + value[l] for l >= d.
// 1. In a vector: x, x + y, (x + y) + z, ((x + y) + z) + w.
// 2. s = KS of the vectors' sums in a line, W = KS of the lines' sums; the tile's sum is the last of W.
// 3. T = KS of the tiles' sums in a group, G = KS of the groups' sums in a super-group; S adds the super-groups' sums one after another.
// 4. An element is its prefix in the vector + ((S + (G + T)) + (W + s)), with S, G, T, W and s of what comes before.

/** Combined with any element, gives that element: -0.0 for sums of f32, so that -0.0 stays. */
override neutral: u32;

struct BlockPrefixes {
  /** What comes before each of the invocation's four values, of which the first is in rows 0 to 7 of 32, the second in rows 8 to 15, … */
  before: vec4<u32>,
  total: u32,
}

fn combine_vectors(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
  if (operation == 1u) {
    return bitcast<vec4<u32>>(bitcast<vec4<f32>>(a) + bitcast<vec4<f32>>(b));
  }
  if (operation == 2u) {
    return min(a, b);
  }
  if (operation == 3u) {
    return max(a, b);
  }
  return a + b;
}

/** The prefixes in a vector. */
fn within(v: vec4<u32>) -> vec4<u32> {
  let y = combine(v.x, v.y);
  let z = combine(y, v.z);
  return vec4<u32>(v.x, y, z, combine(z, v.w));
}

/** The bits of an element from its key. What comes before the first element of all is +0.0 in a sum of f32. */
fn result_of(key: u32, exclusive: bool) -> u32 {
  let bits = decode(key);
  return select(bits, 0u, exclusive && operation == 1u && bits == 0x80000000u);
}
