// A negative index, like one that is too large, is brought to the last element.
// run: workgroups=1,1,1
// buffer input: i32[4] values(-17, 2, -1, -2147483648)
// buffer output: u32[12]
@group(0) @binding(0) var<storage> input: array<i32, 4>;
@group(0) @binding(1) var<storage, read_write> output: array<u32, 12>;

@compute @workgroup_size(1)
fn main() {
  var values = array<u32, 5>(3, 4, 5, 6, 7);
  var vector = vec3u(10, 11, 12);
  let matrix = mat2x2f(1, 2, 3, 4);
  for (var i = 0; i < 3; i++) {
    output[i] = values[input[i]];
    output[3 + i] = vector[input[i]];
    output[6 + i] = u32(matrix[input[i] % 2][input[i] % 2]);
    output[9 + i] = vec2u(20, 21)[input[i + 1]];
  }
}
