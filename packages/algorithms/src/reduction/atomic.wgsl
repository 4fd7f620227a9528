// First rung of the ladder: every invocation adds its element to one counter in storage memory. Integers only: WGSL has no
// atomic<f32>, and an order that changes from run to run would change the bits of a sum.

struct Params {
  input_base: u32,
  input_length: u32,
  output_base: u32,
}

@group(0) @binding(0) var<storage, read> input: array<Input>;
@group(0) @binding(1) var<storage, read_write> output: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn reduce(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let index = (group.y * grid.x + group.x) * 256u + lane;
  if (index >= params.input_length) {
    return;
  }
  let value = encode(bitcast<u32>(input[params.input_base + index]));
  if (operation == 2u) {
    atomicMin(&output[params.output_base], value);
  } else if (operation == 3u) {
    atomicMax(&output[params.output_base], value);
  } else {
    atomicAdd(&output[params.output_base], value);
  }
}
