// run: workgroups=1,1,1 tolerance=exact
// buffer in0: u32[32] special
// buffer in1: u32[32] values(0, -1, 1, 3, -7, 100, 2, 1000000, -2147483648)
// buffer out: u32[32]

@group(0) @binding(0) var<storage, read> in0: array<u32>;
@group(0) @binding(1) var<storage, read> in1: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = a & b;
}
