// run: workgroups=1,1,1
// buffer in0: i32[2] values(1234567, 77)
// buffer out: i32[3]

@group(0) @binding(0) var<storage, read> in0: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

fn folded() -> i32 {
  const a = i32(1234567);
  const b = i32(77);
  const result = ((a & b) | (a ^ b)) + (~a >> 3u) + (b << 4u);
  return result;
}

fn computed(a: i32, b: i32) -> i32 {
  return ((a & b) | (a ^ b)) + (~a >> 3u) + (b << 4u);
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
  out[2] = i32(out[0] == out[1]);
}
