// Which bin an element falls into, by integers: elements and edges are u32 keys that order like them. For f32, -0 has the key of +0.
//
// edges[k] is the key of the least element in bin k, edges[bins] that of the greatest in the last. A guess by arithmetic holds where it is at
// least `margin` of a bin away from an edge (bin-edges.ts derives what it may be wrong by); everything else, NaN included, is searched for.

struct Params {
  input_base: u32,
  input_length: u32,
  edges_base: u32,
  counts_base: u32,
  bins: u32,
  /** Bins that elements reach. */
  reachable: u32,
  /** Elements of one workgroup. */
  range: u32,
  /** Copies of the bins in workgroup memory. */
  copies: u32,
  /** Where the first bin begins: the bits of an f32, or a key. */
  low: u32,
  shift: f32,
  /** Bins in a unit. */
  scale: f32,
  margin: f32,
}

@group(0) @binding(0) var<storage, read> input: array<Element>;
@group(0) @binding(1) var<storage, read> edges: array<u32>;
/** Of the bins; then what lies outside of them, and NaN. */
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

override encode_as: u32; // 0 u32, 1 i32, 2 f32

const outside = 0xfffffffeu;
const not_a_number = 0xffffffffu;

fn key_of(bits: u32) -> u32 {
  if (encode_as == 1u) {
    return bits ^ 0x80000000u;
  }
  if (encode_as == 2u) {
    let positive = select(bits, 0u, bits == 0x80000000u);
    return positive ^ select(0x80000000u, 0xffffffffu, positive >= 0x80000000u);
  }
  return bits;
}

fn search(bits: u32) -> u32 {
  let key = key_of(bits);
  var first = params.edges_base;
  var end = params.edges_base + params.reachable;
  while (first < end) {
    let middle = (first + end) / 2u;
    if (edges[middle] <= key) {
      first = middle + 1u;
    } else {
      end = middle;
    }
  }
  if (first == params.edges_base || key > edges[params.edges_base + params.bins]) {
    // As the key of every NaN is, which is beyond those of the infinities.
    let is_number = encode_as != 2u || (bits & 0x7fffffffu) <= 0x7f800000u;
    return select(not_a_number, outside, is_number);
  }
  return first - params.edges_base - 1u;
}

struct Guess {
  bin: u32,
  certain: bool,
}

/** The bin by arithmetic. Where it is certain, it is one of the bins. */
fn guess(bits: u32) -> Guess {
  var place: f32;
  if (encode_as == 2u) {
    place = (bitcast<f32>(bits) - bitcast<f32>(params.low)) * params.scale;
  } else {
    place = (f32(key_of(bits) - params.low) + params.shift) * params.scale;
  }
  // Added to 3 · 2^22, a small number leaves the whole number beside it in the low bits. Of what is too large, too small or NaN, these bits are
  // no bin, or one that is further away than the middle of a bin is. Without the maximum, a compiler may add the two constants first, as NVIDIA's
  // for Vulkan does, which rounds to another bin: then half of the elements are searched for.
  let bin = bitcast<u32>(max(place - 0.5f, -1f) + 12582912f) - 0x4b400000u;
  let certain = abs((place - 0.5f) - f32(bin)) < 0.5f - params.margin;
  return Guess(bin, bin < params.bins && certain);
}
