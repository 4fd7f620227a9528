// run: workgroups=1,1,1
// buffer data: f32[24] iota(1, 1)
// buffer out: f32[24] values(-1)

struct M { m: mat3x3f, }
@group(0) @binding(0) var<storage, read> data: array<M, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<mat3x3f, 2>;

@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = data[i].m * 2.0;
  out[i][2] = data[1u - i].m[0];
  out[i][i][1] = 77.0;
}
