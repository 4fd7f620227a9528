// run: workgroups=1,1,1 tolerance=exact
// buffer in0: i32[32] special
// buffer in1: i32[32] random
// buffer out: i32[32]

@group(0) @binding(0) var<storage, read> in0: array<i32>;
@group(0) @binding(1) var<storage, read> in1: array<i32>;
@group(0) @binding(2) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = max(a, b);
}
