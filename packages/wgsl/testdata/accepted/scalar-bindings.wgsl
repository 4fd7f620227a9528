// run: workgroups=1,1,1
// buffer n: u32[1] values(5)
// buffer scale: f32[1] values(2.5)
// buffer out: f32[2]

@group(0) @binding(0) var<storage, read> n: u32;
@group(0) @binding(1) var<uniform> scale: f32;
@group(0) @binding(2) var<storage, read_write> out: vec2f;

@compute @workgroup_size(1)
fn main() {
  out.x = f32(n) * scale;
  out[1] = out.x + 1.0;
}
