// A workgroup reduces whole leaves of 16,384 elements, 16 independent four-element loads an invocation and leaf.
//
// `leafTotal` comes before this source, from a leaf-tail file. The order inside a leaf is fixed, and the same in best-scalars.wgsl and best-serial.wgsl. Lane t of 256 owns the vectors
// v[k] = elements 4·(256·k + t) … + 3, k = 0 … 15. Accumulator i of 4 takes v[i], v[i + 4], v[i + 8], v[i + 12] in turn; then
// (0 + 1) + (2 + 3); then (x + y) + (z + w). Column g of 16 takes lanes g, g + 16, … g + 240 in turn; the leaf takes columns
// 0 … 15 in turn.

struct Params {
  input_base: u32, // in vectors of four elements
  output_base: u32,
  output_length: u32, // leaves
}

@group(0) @binding(0) var<storage, read> input: array<vec4<Input>>;
@group(0) @binding(1) var<storage, read_write> output: array<Output>;
@group(0) @binding(2) var<uniform> params: Params;

fn combineVectors(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
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

fn encodeVector(bits: vec4<u32>) -> vec4<u32> {
  if (encodeAs == 0u) {
    return bits;
  }
  return vec4<u32>(encode(bits.x), encode(bits.y), encode(bits.z), encode(bits.w));
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
  let first = params.input_base + leaf * 4096u + lane;
  let v0 = bitcast<vec4<u32>>(input[first]);
  let v1 = bitcast<vec4<u32>>(input[first + 256u]);
  let v2 = bitcast<vec4<u32>>(input[first + 512u]);
  let v3 = bitcast<vec4<u32>>(input[first + 768u]);
  let v4 = bitcast<vec4<u32>>(input[first + 1024u]);
  let v5 = bitcast<vec4<u32>>(input[first + 1280u]);
  let v6 = bitcast<vec4<u32>>(input[first + 1536u]);
  let v7 = bitcast<vec4<u32>>(input[first + 1792u]);
  let v8 = bitcast<vec4<u32>>(input[first + 2048u]);
  let v9 = bitcast<vec4<u32>>(input[first + 2304u]);
  let v10 = bitcast<vec4<u32>>(input[first + 2560u]);
  let v11 = bitcast<vec4<u32>>(input[first + 2816u]);
  let v12 = bitcast<vec4<u32>>(input[first + 3072u]);
  let v13 = bitcast<vec4<u32>>(input[first + 3328u]);
  let v14 = bitcast<vec4<u32>>(input[first + 3584u]);
  let v15 = bitcast<vec4<u32>>(input[first + 3840u]);
  let a0 = combineVectors(combineVectors(combineVectors(encodeVector(v0), encodeVector(v4)), encodeVector(v8)), encodeVector(v12));
  let a1 = combineVectors(combineVectors(combineVectors(encodeVector(v1), encodeVector(v5)), encodeVector(v9)), encodeVector(v13));
  let a2 = combineVectors(combineVectors(combineVectors(encodeVector(v2), encodeVector(v6)), encodeVector(v10)), encodeVector(v14));
  let a3 = combineVectors(combineVectors(combineVectors(encodeVector(v3), encodeVector(v7)), encodeVector(v11)), encodeVector(v15));
  let a = combineVectors(combineVectors(a0, a1), combineVectors(a2, a3));
  let total = leafTotal(lane, combine(combine(a.x, a.y), combine(a.z, a.w)));
  if (lane == 0u) {
    output[params.output_base + leaf] = bitcast<Output>(decode(total));
  }
}
