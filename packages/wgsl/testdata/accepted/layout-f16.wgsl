// run: workgroups=1,1,1
// buffer data: f16[24] iota(0, 0.5)
// buffer out: f16[24] values(-1)
enable f16;

struct Mixed { a: f16, b: vec2h, c: vec3h, d: f16, m: mat2x3h, }
@group(0) @binding(0) var<storage, read> data: Mixed;
@group(0) @binding(1) var<storage, read_write> out: Mixed;

@compute @workgroup_size(1)
fn main() {
  out.a = data.a + data.d;
  out.b = data.b.yx;
  out.c = data.c * 2.0h;
  out.d = data.m[1].z;
  out.m = data.m;
}
