// run: workgroups=1,1,1
// buffer a: u32[4] iota(1, 1)
// buffer b: u32[4] iota(10, 10)
// buffer out: u32[4]

@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(4) var<uniform> b: vec4u;
@group(0) @binding(0) var<storage, read_write> out: vec4u;
@group(0) @binding(2) var<storage, read_write> unused: array<f32>;

@compute @workgroup_size(1)
fn main() {
  out = vec4u(a[0], a[1], a[2], a[3]) + b;
  out.y = 7u;
  out[a[1]] += 100u;
}
