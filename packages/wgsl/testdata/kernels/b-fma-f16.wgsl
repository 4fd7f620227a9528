// run: workgroups=1,1,1 tolerance=absolute:0.05
// buffer in0: f16[32] random
// buffer in1: f16[32] random(-4, 4)
// buffer in2: f16[32] random(-2, 2)
// buffer out: f16[32]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<f16>;
@group(0) @binding(1) var<storage, read> in1: array<f16>;
@group(0) @binding(2) var<storage, read> in2: array<f16>;
@group(0) @binding(3) var<storage, read_write> out: array<f16>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  let c = in2[i];
  out[i] = fma(a, b, c);
}
