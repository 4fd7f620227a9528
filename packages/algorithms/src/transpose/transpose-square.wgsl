// Transposes one block through workgroup memory: output[c][r] = input[r][c].
// A workgroup of 32 × 8 moves one 32 × 32 tile; the 33rd column of the tile keeps the transposed reads free of bank
// conflicts. `alias Element = …;` comes before this source.
// Method: Ruetsch and Fatica, CUDA Fortran for Scientists and Engineers, chapter 4.

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

const tileSide = 32u;
const tileRows = 8u;

var<workgroup> tile: array<array<Element, 33>, 32>;

@compute @workgroup_size(32, 8)
fn transpose(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
  // Read once: a translated kernel would otherwise wait for them again before each load.
  let rows = params.input_rows;
  let columns = params.input_columns;
  let inputStride = params.input_stride;
  let outputStride = params.output_stride;

  let inputColumn = block.x * tileSide + local.x;
  let inputRow = block.y * tileSide + local.y;
  let start = params.input_base + inputRow * inputStride + inputColumn;
  for (var offset = 0u; offset < tileSide; offset += tileRows) {
    var element = Element();
    if (inputColumn < columns && inputRow + offset < rows) {
      element = input[start + offset * inputStride];
    }
    tile[local.y + offset][local.x] = element;
  }
  workgroupBarrier();
  let outputColumn = block.y * tileSide + local.x;
  let outputRow = block.x * tileSide + local.y;
  let to = params.output_base + outputRow * outputStride + outputColumn;
  for (var offset = 0u; offset < tileSide; offset += tileRows) {
    if (outputColumn < rows && outputRow + offset < columns) {
      output[to + offset * outputStride] = tile[local.x][local.y + offset];
    }
  }
}
