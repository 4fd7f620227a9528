// run: workgroups=1,1,1 tolerance=exact
// buffer in0: u32[32] values(1006648320, 805317632, 939539456)
// buffer out: f16[64]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2h>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = bitcast<vec2h>(a);
}
