// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f32[128] values(0, 1, -1, 0.1, 1000.7, -0.3333333, 65504, -65504, 0.25, 2.0009765625)
// buffer out: f32[128]

@group(0) @binding(0) var<storage, read> in0: array<vec3f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3f>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = quantizeToF16(a);
}
