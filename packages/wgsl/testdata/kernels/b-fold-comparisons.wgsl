// run: workgroups=1,1,1
// buffer in0: i32[2] values(3, 4)
// buffer out: i32[3]

@group(0) @binding(0) var<storage, read> in0: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

fn folded() -> i32 {
  const a = i32(3);
  const b = i32(4);
  const result = i32(a < b) + i32(a <= b) * 2 + i32(a > b) * 4 + i32(a >= b) * 8 + i32(a == b) * 16 + i32(a != b) * 32 + i32(a < b && b < a) * 64 + i32(a < b || b < a) * 128 + select(1000, 2000, a < b);
  return result;
}

fn computed(a: i32, b: i32) -> i32 {
  return i32(a < b) + i32(a <= b) * 2 + i32(a > b) * 4 + i32(a >= b) * 8 + i32(a == b) * 16 + i32(a != b) * 32 + i32(a < b && b < a) * 64 + i32(a < b || b < a) * 128 + select(1000, 2000, a < b);
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
  out[2] = i32(out[0] == out[1]);
}
