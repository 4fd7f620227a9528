// Untyped memory: views give its parts types, and fall back to its first bytes where they do not fit.
// run: workgroups=1,1,1
// buffer memory: u32[16] iota(1, 1)
// buffer output: u32[4]
@group(0) @binding(0) var<storage, read_write> memory: buffer;
@group(0) @binding(1) var<storage, read_write> output: array<u32, 4>;

@compute @workgroup_size(1)
fn main() {
  let offset = output[0] + 20;
  output[0] = bufferLength(&memory);
  let pair = bufferView<vec2u>(&memory, offset);
  output[1] = (*pair).y;
  (*pair).x = 7;
  let rest = bufferArrayView<array<u32>>(&memory, offset, 12);
  output[2] = arrayLength(rest);
  output[3] = (*rest)[offset];
}
