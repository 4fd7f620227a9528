// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f32[64] values(0, 1, -1, 0.6, 0.25, 2, -3, 0.1)
// buffer out: u32[32]

@group(0) @binding(0) var<storage, read> in0: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = pack2x16unorm(a);
}
