// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f16[32] values(0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 7.5, 100, -100)
// buffer out: f16[32]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<f16>;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = sign(a);
}
