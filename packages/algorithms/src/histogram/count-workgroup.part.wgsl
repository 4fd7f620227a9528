// A workgroup counts a range in its own memory, in several copies of the bins, and adds them to the counts.

var<workgroup> own: array<atomic<u32>, WORDS>;
/** Elements outside of the bins, and elements that are NaN. */
var<private> apart: vec2<u32>;

/** `missed`, or `bit` too where the element has to be searched for. Loads stand before the first branch, so that many are under way at once. */
fn count_guess(copy: u32, bits: u32, missed: u32, bit: u32) -> u32 {
  let guessed = guess(bits);
  if (guessed.certain) {
    atomicAdd(&own[copy + guessed.bin], 1u);
  }
  return select(missed | bit, missed, guessed.certain);
}

fn count_search(copy: u32, bits: u32) {
  let bin = search(bits);
  if (bin < params.bins) {
    atomicAdd(&own[copy + bin], 1u);
  } else {
    apart += select(vec2<u32>(0u, 1u), vec2<u32>(1u, 0u), bin == outside);
  }
}

@compute @workgroup_size(256)
fn count(
  @builtin(local_invocation_index) place: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let copy = place * params.copies / 256u * params.bins;
  let start = (group.y * grid.x + group.x) * params.range;
  let end = min(start + params.range, params.input_length);
  var at = start + place;
  for (; at + 1792u < end; at += 2048u) {
    let first = params.input_base + at;
    let a = bitcast<u32>(input[first]);
    let b = bitcast<u32>(input[first + 256u]);
    let c = bitcast<u32>(input[first + 512u]);
    let d = bitcast<u32>(input[first + 768u]);
    let e = bitcast<u32>(input[first + 1024u]);
    let f = bitcast<u32>(input[first + 1280u]);
    let g = bitcast<u32>(input[first + 1536u]);
    let h = bitcast<u32>(input[first + 1792u]);
    var missed = count_guess(copy, a, 0u, 1u);
    missed = count_guess(copy, b, missed, 2u);
    missed = count_guess(copy, c, missed, 4u);
    missed = count_guess(copy, d, missed, 8u);
    missed = count_guess(copy, e, missed, 16u);
    missed = count_guess(copy, f, missed, 32u);
    missed = count_guess(copy, g, missed, 64u);
    missed = count_guess(copy, h, missed, 128u);
    for (var left = countOneBits(missed); left > 0u; left--) {
      count_search(copy, bitcast<u32>(input[first + 256u * countTrailingZeros(missed)]));
      missed &= missed - 1u;
    }
  }
  for (; at < end; at += 256u) {
    let bits = bitcast<u32>(input[params.input_base + at]);
    if (count_guess(copy, bits, 0u, 1u) != 0u) {
      count_search(copy, bits);
    }
  }
  workgroupBarrier();
  for (var bin = place; bin < params.bins; bin += 256u) {
    var sum = 0u;
    for (var k = 0u; k < params.copies; k++) {
      sum += atomicLoad(&own[k * params.bins + bin]);
    }
    if (sum > 0u) {
      atomicAdd(&counts[params.counts_base + bin], sum);
    }
  }
  if (apart.x > 0u) {
    atomicAdd(&counts[params.counts_base + params.bins], apart.x);
  }
  if (apart.y > 0u) {
    atomicAdd(&counts[params.counts_base + params.bins + 1u], apart.y);
  }
}
