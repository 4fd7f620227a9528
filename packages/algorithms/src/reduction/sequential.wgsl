// Kernel #3 of the ladder: sequential addressing. Consecutive invocations work on consecutive slots: neither divergence nor
// bank conflicts. 256 elements become one.

struct Params {
  input_base: u32,
  input_length: u32,
  output_base: u32,
  output_length: u32,
}

@group(0) @binding(0) var<storage, read> input: array<Input>;
@group(0) @binding(1) var<storage, read_write> output: array<Output>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> values: array<u32, 256>;

@compute @workgroup_size(256)
fn reduce(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let block = group.y * grid.x + group.x;
  let index = block * 256u + lane;
  var value = identity();
  if (index < params.input_length) {
    value = encode(bitcast<u32>(input[params.input_base + index]));
  }
  values[lane] = value;
  for (var distance = 128u; distance > 0u; distance /= 2u) {
    workgroupBarrier();
    if (lane < distance) {
      values[lane] = combine(values[lane], values[lane + distance]);
    }
  }
  if (lane == 0u && block < params.output_length) {
    output[params.output_base + block] = bitcast<Output>(decode(values[0]));
  }
}
