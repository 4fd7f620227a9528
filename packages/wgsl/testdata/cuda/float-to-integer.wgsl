// run: workgroups=1,1,1
// buffer a: f32[8] values(1.9, -1.9, 3e9, -3e9, 5e9, 1e20, -1e20, 0.5)
// buffer out: i32[24]
// Conversions clamp to the largest float that the integer type holds.
@group(0) @binding(0) var<storage, read> a: array<f32, 8>;
@group(0) @binding(1) var<storage, read_write> out: array<i32, 24>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = i32(a[i]);
  out[8u + i] = bitcast<i32>(u32(a[i]));
  out[16u + i] = vec2i(vec2f(a[i], -a[i])).y;
}
