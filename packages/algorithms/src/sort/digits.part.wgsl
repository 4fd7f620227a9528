//// bits
fn digit_of(key: u32) -> u32 {
  return (key >> params.shift) & (DIGITS - 1u);
}
//// buckets
// Between the splitters lies a bucket, and at each of them one of the keys that equal it.

@group(0) @binding(6) var<storage, read> splitters: array<u32>;

/** As great as a key can be where there are fewer splitters: the bucket is limited below. */
fn splitter(k: u32) -> u32 {
  let last = params.splitters_length - 1u;
  return select(0xffffffffu, splitters[params.splitters_base + min(k, last)], k <= last);
}

fn buckets_before(splitter: vec4<u32>, key: u32) -> u32 {
  let passed = vec4<u32>(splitter < vec4<u32>(key)) + vec4<u32>(splitter <= vec4<u32>(key));
  return passed.x + passed.y + passed.z + passed.w;
}

fn digit_of(key: u32) -> u32 {
  // Four without a loop, so that they stay in registers.
  var bucket = buckets_before(vec4<u32>(splitter(0u), splitter(1u), splitter(2u), splitter(3u)), key);
  for (var k = 4u; k < params.splitters_length; k++) {
    let other = splitters[params.splitters_base + k];
    bucket += u32(other < key) + u32(other <= key);
  }
  return min(min(bucket, 2u * params.splitters_length), DIGITS - 1u);
}
