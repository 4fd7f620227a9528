// run: workgroups=1,1,1 tolerance=ulp:1
// buffer in0: f16[32] random(-8, 8)
// buffer in1: f16[32] random(0.5, 4)
// buffer out: f16[32]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<f16>;
@group(0) @binding(1) var<storage, read> in1: array<f16>;
@group(0) @binding(2) var<storage, read_write> out: array<f16>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  let b = in1[i];
  out[i] = a * b;
}
