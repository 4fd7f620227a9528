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
  let inputStride = params.input_stride;
  let outputStride = params.output_stride;
  let column = invocation.x * 4u;
  let row = invocation.y * 4u;
  let from0 = params.input_base + row * inputStride + column;
  let to0 = params.output_base + column * outputStride + row;
  if (column + 4u <= params.input_columns && row + 4u <= params.input_rows) {
    let from1 = from0 + inputStride;
    let from2 = from1 + inputStride;
    let from3 = from2 + inputStride;
    let e00 = input[from0];
    let e01 = input[from0 + 1u];
    let e02 = input[from0 + 2u];
    let e03 = input[from0 + 3u];
    let e10 = input[from1];
    let e11 = input[from1 + 1u];
    let e12 = input[from1 + 2u];
    let e13 = input[from1 + 3u];
    let e20 = input[from2];
    let e21 = input[from2 + 1u];
    let e22 = input[from2 + 2u];
    let e23 = input[from2 + 3u];
    let e30 = input[from3];
    let e31 = input[from3 + 1u];
    let e32 = input[from3 + 2u];
    let e33 = input[from3 + 3u];
    let to1 = to0 + outputStride;
    let to2 = to1 + outputStride;
    let to3 = to2 + outputStride;
    output[to0] = e00;
    output[to0 + 1u] = e10;
    output[to0 + 2u] = e20;
    output[to0 + 3u] = e30;
    output[to1] = e01;
    output[to1 + 1u] = e11;
    output[to1 + 2u] = e21;
    output[to1 + 3u] = e31;
    output[to2] = e02;
    output[to2 + 1u] = e12;
    output[to2 + 2u] = e22;
    output[to2 + 3u] = e32;
    output[to3] = e03;
    output[to3 + 1u] = e13;
    output[to3 + 2u] = e23;
    output[to3 + 3u] = e33;
    return;
  }
  // At the ragged edges.
  for (var r = 0u; r < 4u; r++) {
    for (var c = 0u; c < 4u; c++) {
      if (row + r < params.input_rows && column + c < params.input_columns) {
        output[to0 + c * outputStride + r] = input[from0 + r * inputStride + c];
      }
    }
  }
}
