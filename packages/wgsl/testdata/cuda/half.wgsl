// run: workgroups=1,1,1 tolerance=ulp:1
// buffer a: f16[16] random(-8, 8)
// buffer out: f16[24]
// f16 without a header file: two bytes, PTX for arithmetic.
enable f16;
struct Pair { v: vec3h, s: f16 }
@group(0) @binding(0) var<storage, read> a: array<vec4h, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<Pair, 6>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
  let v = a[i];
  out[i].v = v.xyz * 2h + vec3h(f16(i));
  out[i].s = fma(v.x, v.y, v.z) / 3h;
  if (i == 0u) {
    out[4].v = vec3h(sqrt(abs(v.x)), f16(f32(v.y) * 0.5f), max(v.z, 0.5h));
    out[5].s = f16(u32(abs(v.w))) - 0.25h;
  }
}
