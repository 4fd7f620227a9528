// run: workgroups=1,1,1 tolerance=relative:0.001,absolute:0.001
// buffer in0: f32[2] values(2.625, 1.375)
// buffer out: f32[2]

@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

fn folded() -> f32 {
  const a = 2.625f;
  const b = 1.375f;
  const result = f32(pack4x8unorm(vec4(a, b, 0.15, 0.85)) % 1000u) + unpack4x8snorm(bitcast<u32>(a)).y + unpack2x16float(pack2x16float(vec2(a, b))).x + f32(bitcast<i32>(b) % 1000);
  return result;
}

fn computed(a: f32, b: f32) -> f32 {
  return f32(pack4x8unorm(vec4(a, b, 0.15, 0.85)) % 1000u) + unpack4x8snorm(bitcast<u32>(a)).y + unpack2x16float(pack2x16float(vec2(a, b))).x + f32(bitcast<i32>(b) % 1000);
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
}
