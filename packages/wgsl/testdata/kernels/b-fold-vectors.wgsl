// run: workgroups=1,1,1
// buffer in0: i32[2] values(5, 9)
// buffer out: i32[3]

@group(0) @binding(0) var<storage, read> in0: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

fn folded() -> i32 {
  const a = i32(5);
  const b = i32(9);
  const result = dot(vec3(a, b, a + b), vec3(b, a, 2).zyx) + (vec2(a, b) * 3).y + vec4(vec2(a, b), vec2(b, a))[2] + (vec2(a, b) + a).x;
  return result;
}

fn computed(a: i32, b: i32) -> i32 {
  return dot(vec3(a, b, a + b), vec3(b, a, 2).zyx) + (vec2(a, b) * 3).y + vec4(vec2(a, b), vec2(b, a))[2] + (vec2(a, b) + a).x;
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
  out[2] = i32(out[0] == out[1]);
}
