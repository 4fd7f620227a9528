// One invocation reduces one leaf of up to 16,384 elements, without barriers or workgroup memory: for adapters that run on the
// CPU, where barriers cost most. Same order as best-vectors.wgsl; elements beyond the end count as the identity.

struct Params {
  input_base: u32,
  input_length: u32,
  output_base: u32,
  output_length: u32,
}

@group(0) @binding(0) var<storage, read> input: array<Input>;
@group(0) @binding(1) var<storage, read_write> output: array<Output>;
@group(0) @binding(2) var<uniform> params: Params;

fn element(index: u32) -> u32 {
  if (index < params.input_length) {
    return encode(bitcast<u32>(input[params.input_base + index]));
  }
  return identity();
}

fn accumulator(first: u32) -> u32 {
  return combine(
    combine(combine(element(first), element(first + 4096u)), element(first + 8192u)),
    element(first + 12288u),
  );
}

fn component(first: u32) -> u32 {
  return combine(
    combine(accumulator(first), accumulator(first + 1024u)),
    combine(accumulator(first + 2048u), accumulator(first + 3072u)),
  );
}

fn laneValue(first: u32) -> u32 {
  return combine(
    combine(component(first), component(first + 1u)),
    combine(component(first + 2u), component(first + 3u)),
  );
}

@compute @workgroup_size(4)
fn reduce(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let leaf = (group.y * grid.x + group.x) * 4u + lane;
  if (leaf >= params.output_length) {
    return;
  }
  let first = leaf * 16384u;
  var total = 0u;
  for (var column = 0u; column < 16u; column++) {
    var value = laneValue(first + column * 4u);
    for (var row = 1u; row < 16u; row++) {
      value = combine(value, laneValue(first + (column + 16u * row) * 4u));
    }
    if (column == 0u) {
      total = value;
    } else {
      total = combine(total, value);
    }
  }
  output[params.output_base + leaf] = bitcast<Output>(decode(total));
}
