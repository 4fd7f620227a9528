// run: workgroups=1,1,1 tolerance=relative:0.03
// buffer in0: f16[32] random(-4, 4)
// buffer out: f16[32]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<f16>;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = cosh(a);
}
