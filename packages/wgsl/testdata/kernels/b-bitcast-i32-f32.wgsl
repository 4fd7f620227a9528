// run: workgroups=1,1,1 tolerance=exact
// buffer in0: i32[32] random(1000000000, 1090000000)
// buffer out: f32[32]

@group(0) @binding(0) var<storage, read> in0: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = in0[i];
  out[i] = bitcast<f32>(a);
}
