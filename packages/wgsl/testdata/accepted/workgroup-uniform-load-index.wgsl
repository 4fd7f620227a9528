// run: workgroups=1,1,1
// buffer out: u32[12]
// What the index does happens before the barriers of the load.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

var<workgroup> values: array<u32, 4>;

fn store(i: u32) -> u32 {
  if i == 3u {
    values[1] = 7u;
  }
  return 1u;
}

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = workgroupUniformLoad(&values[store(i)]);
  values[i] = 3u - i;
  out[4u + i] = workgroupUniformLoad(&values[workgroupUniformLoad(&values[1])]);
  out[8u + i] = values[i ^ 1u];
}
