// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f16[128] random
// buffer out: u32[64]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<vec4h>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2u>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = bitcast<vec2u>(a);
}
