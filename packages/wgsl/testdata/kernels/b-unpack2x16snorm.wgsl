// run: workgroups=1,1,1 tolerance=absolute:0.000001
// buffer in0: u32[32] random
// buffer out: f32[64]

@group(0) @binding(0) var<storage, read> in0: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2f>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = unpack2x16snorm(a);
}
