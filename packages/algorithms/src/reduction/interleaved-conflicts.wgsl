// Kernel #2 of the ladder: interleaved addressing with consecutive invocations working, whose strided accesses to workgroup
// memory meet in the same banks. 256 elements become one, in the order of kernel #1.

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
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    workgroupBarrier();
    let slot = 2u * distance * lane;
    if (slot < 256u) {
      values[slot] = combine(values[slot], values[slot + distance]);
    }
  }
  if (lane == 0u && block < params.output_length) {
    output[params.output_base + block] = bitcast<Output>(decode(values[0]));
  }
}
