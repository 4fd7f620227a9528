// run: workgroups=1,1,1 tolerance=exact
// buffer in0: i32[64] special
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read> in0: array<vec2i>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2u>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = bitcast<vec2u>(a);
}
