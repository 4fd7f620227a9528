// run: workgroups=1,1,1 tolerance=absolute:0.0001,relative:0.00001
// buffer in0: f32[32] random(-2, 2)
// buffer out: f32[32]

@group(0) @binding(0) var<storage, read> in0: array<mat4x2f, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<mat4x2f>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  let s = in0[i];
  let columns = mat4x2f(s[3], s[2], s[1], s[0]);
  let scalars = mat4x2f(s[0][1], s[0][0], s[1][1], s[1][0], s[2][1], s[2][0], s[3][1], s[3][0]);
  out[i] = columns + scalars;
  out[i][i % 4u][i % 2u] += 100.0;
  out[i][1] *= 2.0;
}
