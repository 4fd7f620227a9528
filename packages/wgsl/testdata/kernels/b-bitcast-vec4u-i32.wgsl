// run: workgroups=1,1,1 tolerance=exact
// buffer in0: u32[128] special
// buffer out: i32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4i>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = bitcast<vec4i>(a);
}
