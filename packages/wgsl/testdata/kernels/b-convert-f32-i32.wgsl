// run: workgroups=1,1,1 tolerance=exact
// buffer in0: f32[32] values(0, 1, -1, 1.9, -1.9, 3e9, -3e9, 5e9, 1e20, -1e20, 2147483520, 2147483648, 4294967040, 0.5, 123456.7, -0.1)
// buffer out: i32[32]

@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = i32(a);
}
