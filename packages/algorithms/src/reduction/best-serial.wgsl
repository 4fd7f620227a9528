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
  // No branch: reads the last element where there is none.
  let bits = bitcast<u32>(input[params.input_base + min(index, params.input_length - 1u)]);
  return select(identity(), encode(bits), index < params.input_length);
}

fn combineVectors(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
  return vec4<u32>(combine(a.x, b.x), combine(a.y, b.y), combine(a.z, b.z), combine(a.w, b.w));
}

// Loops with one load in the text: the code stays small, and with it the time that a CPU adapter takes to compile it.
fn laneValue(first: u32) -> u32 {
  var left = vec4<u32>();
  var right = vec4<u32>();
  for (var i = 0u; i < 4u; i++) {
    var accumulator = vec4<u32>();
    for (var k = 0u; k < 4u; k++) {
      let index = first + 1024u * i + 4096u * k;
      let loaded = vec4<u32>(element(index), element(index + 1u), element(index + 2u), element(index + 3u));
      accumulator = select(combineVectors(accumulator, loaded), loaded, k == 0u);
    }
    if (i == 0u) {
      left = accumulator;
    } else if (i == 1u) {
      left = combineVectors(left, accumulator);
    } else if (i == 2u) {
      right = accumulator;
    } else {
      right = combineVectors(right, accumulator);
    }
  }
  let lane = combineVectors(left, right);
  return combine(combine(lane.x, lane.y), combine(lane.z, lane.w));
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
    var value = 0u;
    for (var row = 0u; row < 16u; row++) {
      let loaded = laneValue(first + (column + 16u * row) * 4u);
      value = select(combine(value, loaded), loaded, row == 0u);
    }
    total = select(combine(total, value), value, column == 0u);
  }
  output[params.output_base + leaf] = bitcast<Output>(decode(total));
}
