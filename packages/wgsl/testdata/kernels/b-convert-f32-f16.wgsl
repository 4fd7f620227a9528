// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f32[32] values(0, 1, -1, 0.1, 1000.5, 2048.9, 65504, -0.333)
// buffer out: f16[32]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = f16(a);
}
