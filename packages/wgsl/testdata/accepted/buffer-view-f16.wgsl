// Untyped storage seen as f16: elements of two bytes.
// run: workgroups=1,1,1
// buffer input: u32[8] iota(1006648320, 65537)
// buffer output: u32[8]
enable f16;
struct Mixed { a: vec3h, b: f16, m: mat2x3h }
@group(0) @binding(0) var<storage> input: buffer<32>;
@group(0) @binding(1) var<storage, read_write> output: buffer;

@compute @workgroup_size(1)
fn main() {
  let source = bufferView<array<f16>>(&input, 2);
  let to = bufferView<array<f16>>(&output, 0);
  for (var i = 0u; i < 3u; i++) { (*to)[i] = (*source)[i] * 2; }
  (*bufferView<Mixed>(&output, 8)).m = mat2x3h(1, 2, 3, 4, 5, 6);
  (*bufferView<Mixed>(&output, 8)).b = f16(arrayLength(source));
}
