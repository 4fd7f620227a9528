// Counts in storage: for more bins than workgroup memory holds, and for adapters that run on the CPU, where barriers cost most.

@compute @workgroup_size(64)
fn count(
  @builtin(local_invocation_index) place: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let start = (group.y * grid.x + group.x) * params.range;
  let end = min(start + params.range, params.input_length);
  for (var at = start + place; at < end; at += 64u) {
    let bits = bitcast<u32>(input[params.input_base + at]);
    let guessed = guess(bits);
    var bin = guessed.bin;
    if (!guessed.certain) {
      bin = search(bits);
    }
    let slot = select(params.bins + bin - outside, bin, bin < params.bins);
    atomicAdd(&counts[params.counts_base + slot], 1u);
  }
}
