// run: workgroups=1,1,1
// buffer numbers: f32[128] random(-100, 100)
// buffer out: u32[256]
// Of a mask of an f16 converted from f32, as the low half of 32 bits, nothing was left.
enable f16;
@group(0) @binding(0) var<storage, read> numbers: array<f32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 256>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = floor(numbers[i]);
  let b = floor(numbers[i + 64u]);
  out[i] = bitcast<u32>(abs(vec2<f16>(vec2f(a, b))));
  out[i + 64u] = bitcast<u32>(vec2<f16>(abs(f16(a)), 1.0h));
  out[i + 128u] = pack2x16float(vec2f(a, b)) & 0xffff7fffu;
  out[i + 192u] = (pack2x16float(vec2f(a, b)) & 0x7fffu) | (bitcast<u32>(b) << 16u);
}
