// Transposes one block without workgroup memory: output[c][r] = input[r][c]. For adapters that run on the CPU, where a barrier
// costs more than strided accesses that the cache absorbs. A workgroup of 8 × 8 covers the same 32 × 32 tile as
// transpose-square.wgsl, 4 × 4 elements an invocation. `alias Element = …;` comes before this source.

struct Params {
  input_base: u32,
  input_stride: u32,
  input_rows: u32,
  input_columns: u32,
  output_base: u32,
  output_stride: u32,
}

@group(0) @binding(0) var<storage, read> input: array<Element>;
@group(0) @binding(1) var<storage, read_write> output: array<Element>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(8, 8)
fn transpose(@builtin(global_invocation_id) invocation: vec3<u32>) {
  let inputBase = params.input_base;
  let inputStride = params.input_stride;
  let outputBase = params.output_base;
  let outputStride = params.output_stride;
  let firstColumn = invocation.x * 4u;
  let firstRow = invocation.y * 4u;
  let endColumn = min(firstColumn + 4u, params.input_columns);
  let endRow = min(firstRow + 4u, params.input_rows);
  for (var row = firstRow; row < endRow; row++) {
    for (var column = firstColumn; column < endColumn; column++) {
      output[outputBase + column * outputStride + row] = input[inputBase + row * inputStride + column];
    }
  }
}
