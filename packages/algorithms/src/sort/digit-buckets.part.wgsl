// Between the splitters lies a bucket, and at each of them one of the keys that equal it.

@group(0) @binding(6) var<storage, read> splitters: array<u32>;

fn digit_of(key: u32) -> u32 {
  var bucket = 0u;
  for (var k = 0u; k < params.splitters_length; k++) {
    let splitter = splitters[params.splitters_base + k];
    bucket += u32(splitter < key) + u32(splitter <= key);
  }
  return min(bucket, DIGITS - 1u);
}
