// Transposes one block through workgroup memory: output[c][r] = input[r][c]. Like transpose-square.wgsl with tiles twice as
// tall, so that each invocation has eight loads in flight and output rows are written 256 bytes at a time, and with workgroups
// that walk down strips four tiles wide, so that neighbours in time share memory pages on both sides. On an H200 at 16384²:
// 4003 GB/s against 3511 for the square tile and 4212 for a copy. `alias Element = …;` comes before this source.

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

const tileColumns = 32u;
const tileRows = 64u;
const stripTiles = 4u;

var<workgroup> tile: array<array<Element, 33>, 64>;

@compute @workgroup_size(32, 8)
fn transpose(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let index = group.y * grid.x + group.x;
  let strip = index / (stripTiles * grid.y);
  let inStrip = index - strip * stripTiles * grid.y;
  let stripWidth = min(stripTiles, grid.x - strip * stripTiles);
  let firstColumn = (strip * stripTiles + inStrip % stripWidth) * tileColumns;
  let firstRow = (inStrip / stripWidth) * tileRows;

  // Read once: a translated kernel would otherwise wait for them again before each load (2517 GB/s in place of 3965).
  let rows = params.input_rows;
  let columns = params.input_columns;
  let inputStride = params.input_stride;
  let outputStride = params.output_stride;
  let inputColumn = firstColumn + local.x;
  let inputRow = firstRow + local.y;
  let start = params.input_base + inputRow * inputStride + inputColumn;
  // Whole tiles apart, without a loop: compilers behind WebGPU wait for each load before the next where a condition stands between
  // them (on an H200 1744 GB/s in place of 3884; CUDA has 3992 either way).
  let isWhole = firstColumn + tileColumns <= columns && firstRow + tileRows <= rows;
  if (isWhole) {
    let element0 = input[start + 0u * inputStride];
    let element1 = input[start + 8u * inputStride];
    let element2 = input[start + 16u * inputStride];
    let element3 = input[start + 24u * inputStride];
    let element4 = input[start + 32u * inputStride];
    let element5 = input[start + 40u * inputStride];
    let element6 = input[start + 48u * inputStride];
    let element7 = input[start + 56u * inputStride];
    tile[local.y + 0u][local.x] = element0;
    tile[local.y + 8u][local.x] = element1;
    tile[local.y + 16u][local.x] = element2;
    tile[local.y + 24u][local.x] = element3;
    tile[local.y + 32u][local.x] = element4;
    tile[local.y + 40u][local.x] = element5;
    tile[local.y + 48u][local.x] = element6;
    tile[local.y + 56u][local.x] = element7;
  } else {
    for (var offset = 0u; offset < tileRows; offset += 8u) {
      var element = Element();
      if (inputColumn < columns && inputRow + offset < rows) {
        element = input[start + offset * inputStride];
      }
      tile[local.y + offset][local.x] = element;
    }
  }
  workgroupBarrier();
  let outputRow = firstColumn + local.y;
  let outputColumn = firstRow + local.x;
  let to = params.output_base + outputRow * outputStride + outputColumn;
  if (isWhole) {
    output[to + 0u * outputStride + 0u] = tile[local.x + 0u][local.y + 0u];
    output[to + 0u * outputStride + 32u] = tile[local.x + 32u][local.y + 0u];
    output[to + 8u * outputStride + 0u] = tile[local.x + 0u][local.y + 8u];
    output[to + 8u * outputStride + 32u] = tile[local.x + 32u][local.y + 8u];
    output[to + 16u * outputStride + 0u] = tile[local.x + 0u][local.y + 16u];
    output[to + 16u * outputStride + 32u] = tile[local.x + 32u][local.y + 16u];
    output[to + 24u * outputStride + 0u] = tile[local.x + 0u][local.y + 24u];
    output[to + 24u * outputStride + 32u] = tile[local.x + 32u][local.y + 24u];
  } else {
    for (var across = 0u; across < tileColumns; across += 8u) {
      for (var along = 0u; along < tileRows; along += 32u) {
        if (outputRow + across < columns && outputColumn + along < rows) {
          output[to + across * outputStride + along] = tile[local.x + along][local.y + across];
        }
      }
    }
  }
}
