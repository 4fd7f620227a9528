// run: workgroups=1,1,1 tolerance=exact
// buffer in0: u32[32] random(0, 2000)
// buffer out: f16[32]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = f16(a);
}
