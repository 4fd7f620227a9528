// A workgroup reduces one leaf of up to 16,384 elements that start anywhere: for the ragged last leaf, for views that are not
// aligned to four elements, and for partial results. Same order as best-vectors.wgsl; elements beyond the end count as the
// identity.

struct Params {
  input_base: u32,
  input_length: u32,
  output_base: u32,
  output_length: u32,
}

@group(0) @binding(0) var<storage, read> input: array<Input>;
@group(0) @binding(1) var<storage, read_write> output: array<Output>;
@group(0) @binding(2) var<uniform> params: Params;

fn element(base: u32, length: u32, index: u32) -> u32 {
  if (index < length) {
    return encode(bitcast<u32>(input[base + index]));
  }
  return identity();
}

// One component of a lane's four accumulators, combined; `first` is the lane's first element in it.
fn component(base: u32, length: u32, first: u32) -> u32 {
  var accumulators: array<u32, 4>;
  for (var i = 0u; i < 4u; i++) {
    var value = element(base, length, first + 1024u * i);
    for (var k = 1u; k < 4u; k++) {
      value = combine(value, element(base, length, first + 1024u * i + 4096u * k));
    }
    accumulators[i] = value;
  }
  return combine(combine(accumulators[0], accumulators[1]), combine(accumulators[2], accumulators[3]));
}

@compute @workgroup_size(256)
fn reduce(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let leaf = group.y * grid.x + group.x;
  if (leaf >= params.output_length) {
    return;
  }
  let first = leaf * 16384u + lane * 4u;
  let base = params.input_base;
  let length = params.input_length;
  let value = combine(
    combine(component(base, length, first), component(base, length, first + 1u)),
    combine(component(base, length, first + 2u), component(base, length, first + 3u)),
  );
  let total = leafTotal(lane, value);
  if (lane == 0u) {
    output[params.output_base + leaf] = bitcast<Output>(decode(total));
  }
}
