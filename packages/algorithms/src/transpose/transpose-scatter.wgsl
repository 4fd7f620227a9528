// Transposes one sender's slice into several receivers' slices in one dispatch: output k[c][r] = input[r][first k + c].
// A template: `repeatForOutputs` writes the lines between "for each output" and "end" once for each output, with its number in
// place of K, so that a kernel has exactly as many bindings as it is given. `alias Element = …;` comes before this source.
//
// Neighbouring workgroups take tiles of different receivers, and each sender begins with another receiver, so that all links carry
// data all the time, and the sender's own part costs nothing beside them. Inside a receiver, workgroups walk down strips four
// tiles wide, as in transpose-strips.wgsl. Tiles are 32 columns by 64 rows of the input: 256 contiguous bytes go to each output
// row. On 4 H200s at once such writes reach 354 GB/s each way, reads of peers 326; 64 × 64 tiles and vectors bring nothing.

struct Params {
  input_base: u32,
  input_stride: u32,
  input_rows: u32,
  // The output that the first workgroup writes.
  turn: u32,
  // How many outputs are used: the first ones.
  outputs: u32,
  // for each output
  // Column of the input where the part for this output starts.
  firstK: u32,
  outputK_base: u32,
  outputK_stride: u32,
  outputK_rows: u32,
  // end
}

@group(0) @binding(7) var<storage, read> input: array<Element>;
@group(0) @binding(8) var<uniform> params: Params;
// for each output
@group(0) @binding(K) var<storage, read_write> outputK: array<Element>;
// end

const tileColumns = 32u;
const tileRows = 64u;
const stripTiles = 4u;
const loads = tileRows / 8u;

var<workgroup> tile: array<array<Element, 33>, 64>;

@compute @workgroup_size(32, 8)
fn scatter(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let index = group.y * grid.x + group.x;
  let outputs = params.outputs;
  let block = index / outputs;
  let receiver = (index - block * outputs + params.turn) % outputs;

  // Read once: a translated kernel would otherwise wait for them again before each access.
  let rows = params.input_rows;
  let inputStride = params.input_stride;
  var columns = 0u;
  var first = 0u;
  var outputBase = 0u;
  var outputStride = 0u;
  switch (receiver) {
    // for each output
    case Ku: {
      columns = params.outputK_rows;
      first = params.firstK;
      outputBase = params.outputK_base;
      outputStride = params.outputK_stride;
    }
    // end
    default: {}
  }

  let tilesAcross = (columns + tileColumns - 1u) / tileColumns;
  let tilesDown = (rows + tileRows - 1u) / tileRows;
  // Slices may differ in height, and the grid is as large as the tallest needs.
  if (block >= tilesAcross * tilesDown) {
    return;
  }
  let strip = block / (stripTiles * tilesDown);
  let inStrip = block - strip * stripTiles * tilesDown;
  let stripWidth = min(stripTiles, tilesAcross - strip * stripTiles);
  let firstColumn = (strip * stripTiles + inStrip % stripWidth) * tileColumns;
  let firstRow = (inStrip / stripWidth) * tileRows;

  let column = firstColumn + local.x;
  let row = firstRow + local.y;
  let from0 = params.input_base + row * inputStride + first + column;
  // All loads before the first use.
  var elements: array<Element, loads>;
  for (var k = 0u; k < loads; k++) {
    if (column < columns && row + k * 8u < rows) {
      elements[k] = input[from0 + k * 8u * inputStride];
    }
  }
  for (var k = 0u; k < loads; k++) {
    tile[local.y + k * 8u][local.x] = elements[k];
  }
  workgroupBarrier();

  let outputRow = firstColumn + local.y;
  let outputColumn = firstRow + local.x;
  let to = outputBase + outputRow * outputStride + outputColumn;
  // One branch for all stores.
  switch (receiver) {
    // for each output
    case Ku: {
      for (var across = 0u; across < tileColumns; across += 8u) {
        for (var along = 0u; along < tileRows; along += 32u) {
          if (outputRow + across < columns && outputColumn + along < rows) {
            outputK[to + across * outputStride + along] = tile[local.x + along][local.y + across];
          }
        }
      }
    }
    // end
    default: {}
  }
}
