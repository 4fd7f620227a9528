// run: workgroups=1,1,1
// buffer data: u32[64] iota(0, 1)
// buffer out: u32[64]

struct Block { values: array<u32, 16>, }
@group(0) @binding(0) var<storage, read> data: array<Block>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn sum_block(block: ptr<storage, Block>) -> u32 {
  var sum = 0u;
  for (var k = 0; k < 16; k++) { sum += (*block).values[k]; }
  return sum;
}
fn pick(values: ptr<storage, array<u32, 16>, read>, k: u32) -> u32 { return (*values)[k]; }
fn store(target_array: ptr<storage, array<u32>, read_write>, i: u32, v: u32) { target_array[i] = v + arrayLength(target_array); }
fn twice(target_array: ptr<storage, array<u32>, read_write>, i: u32) { store(target_array, i, target_array[i] * 2u); }

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  store(&out, i, sum_block(&data[i / 16u]) * 100u + pick(&data[i % 4u].values, i % 16u));
  twice(&out, i);
}
