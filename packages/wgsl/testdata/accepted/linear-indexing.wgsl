// run: workgroups=2,2,1
// buffer out: u32[32]
requires linear_indexing;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(4, 2)
fn main(@builtin(global_invocation_index) i: u32, @builtin(workgroup_index) group: u32) {
  out[i] = group * 1000u + i;
}
