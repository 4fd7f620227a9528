// What all kernels of the sort share. Keys are u32 that order like the elements: for f32, -0 comes before +0 and NaN last. The first pass makes
// them, the last one makes elements of them (FLOATS: f32); a descending order complements them in between.

struct Params {
  keys_base: u32,
  keys_length: u32,
  sorted_base: u32,
  values_base: u32,
  sorted_values_base: u32,
  counts_base: u32,
  counts_length: u32,
  totals_base: u32,
  splitters_base: u32,
  splitters_length: u32,
  /** Of the lowest bit of the digit. */
  shift: u32,
  ranges: u32,
  /** Keys of one range. */
  range: u32,
  encode_mask: u32,
  decode_mask: u32,
  /** 1: f32 come in; 2: f32 go out. */
  floats: u32,
  /** Of the first element, among those of all devices. */
  first_index: u32,
}

fn encoded(bits: u32) -> u32 {
  var key = bits;
  if (FLOATS && (params.floats & 1u) != 0u) {
    key = bits ^ select(0x80000000u, 0xffffffffu, bits >= 0x80000000u);
    key = select(key, 0xffffffffu, (bits & 0x7fffffffu) > 0x7f800000u);
  }
  return key ^ params.encode_mask;
}

fn decoded(sorted_key: u32) -> u32 {
  let key = sorted_key ^ params.decode_mask;
  if (!FLOATS || (params.floats & 2u) == 0u) {
    return key;
  }
  let bits = key ^ select(0xffffffffu, 0x80000000u, key >= 0x80000000u);
  return select(bits, 0x7fc00000u, key == 0xffffffffu);
}
