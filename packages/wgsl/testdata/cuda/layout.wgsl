// run: workgroups=1,1,1
// buffer input: f32[56] iota(1, 1)
// buffer output: f32[56] iota(-1, -1)
// A vec3 takes 12 bytes in 16, columns of three rows a stride of 16, and stores leave the bytes between alone.
struct Inner {
  direction: vec3f,
  weight: f32,
  axis: vec3f,
}
struct Outer {
  inner: Inner,
  frame: mat3x3f,
  points: array<vec3f, 2>,
  @size(32) tail: vec2f,
  @align(16) flags: u32,
}
@group(0) @binding(0) var<storage, read> input: Outer;
@group(0) @binding(1) var<storage, read_write> output: Outer;

@compute @workgroup_size(1)
fn main() {
  var value = input;
  value.inner.axis = value.inner.direction.zyx * value.inner.weight;
  value.frame[1].y += 0.5;
  output = value;
  output.points[1] = value.points[0];
}
