// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f32[64] values(1.5, 0.0078431377, 2.5)
// buffer out: f16[128]
enable f16;

@group(0) @binding(0) var<storage, read> in0: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4h>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = bitcast<vec4h>(a);
}
