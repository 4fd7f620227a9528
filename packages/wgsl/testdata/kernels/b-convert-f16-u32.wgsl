// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f16[32] values(0, 1, -1, 1.9, -1.9, 65504, -65504, 0.5, 1234, -0.1)
// buffer out: u32[32]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<f16>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = u32(a);
}
