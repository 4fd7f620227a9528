// Untyped storage seen as scalars, vectors, matrices, structures and runtime-sized arrays; offsets are rounded down, and a view
// that does not fit is of the first bytes.
// run: workgroups=1,1,1
// buffer memory: u32[32] iota(10, 1)
// buffer table: u32[16] iota(100, 3)
// buffer output: u32[32]
requires buffer_view;
struct Pair { a: vec4u, b: u32 }
struct Tailed { head: Pair, rest: array<vec2u> }

@group(0) @binding(0) var<storage, read_write> memory: buffer;
@group(0) @binding(1) var<storage> table: buffer<64>;
@group(0) @binding(2) var<storage, read_write> output: array<u32, 32>;

@compute @workgroup_size(1)
fn main() {
  let zero = output[0];
  output[0] = bufferLength(&memory);
  output[1] = bufferLength(&table);
  let words = bufferView<array<u32>>(&table, 8);
  output[2] = arrayLength(words);
  output[3] = (*words)[1] + words[zero + 2];
  output[4] = (*words)[zero + 13];
  let tailed = bufferView<Tailed>(&memory, 0);
  output[5] = arrayLength(&tailed.rest);
  tailed.rest[1] = vec2u(7, 8);
  (*tailed).head.b += 1000;
  let element = &tailed.rest[zero + 2];
  (*element).y = 99;
  let limited = bufferArrayView<Tailed>(&memory, zero, 48);
  output[6] = arrayLength(&(*limited).rest);
  output[7] = (*limited).rest[zero + 1].x;
  // Rounded down to a multiple of the alignment.
  output[8] = (*bufferView<vec2u>(&table, zero + 31)).y;
  *bufferView<vec3u>(&memory, 66 + zero) = vec3u(1, 2, 3);
  bufferView<vec4u>(&memory, 80).zx = vec2u(4, 5);
  bufferView<vec2u>(&memory, 96)[zero + 1] *= 2;
  let matrix = bufferView<mat2x3f>(&memory, 96 + zero);
  (*matrix)[1][zero + 2] = 1.5;
  output[9] = bitcast<u32>((*matrix)[zero + 1].z);
  // These do not fit.
  output[10] = *bufferView<u32>(&table, zero + 64);
  output[11] = (*bufferView<array<u32, 4>>(&table, zero + 52))[3];
  let far = bufferArrayView<array<u32>>(&table, zero + 32, 64);
  output[12] = arrayLength(far);
  output[13] = (*far)[zero];
  let small = bufferArrayView<array<u32>>(&table, zero + 32, zero);
  output[14] = arrayLength(small);
  output[15] = (*small)[0];
}
