// Transposes or copies one block with as few workgroups as it is given, which go on to further tiles: output[c][r] = input[r][c], or output[r][c] = input[r][c].
// Beside messages, which need multiprocessors and memory of their own, such a pass slows them down by less than one that fills the device. 1,024 invocations,
// so that few multiprocessors keep enough loads in flight. Tiles follow one another as in transpose-strips.wgsl.
// `alias Element = …;` and `const transposes = …;` come before this source.

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

const side = 64u;
const stripTiles = 4u;

var<workgroup> tile: array<array<Element, 65>, 64>;

@compute @workgroup_size(64, 16)
fn transpose(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let rows = params.input_rows;
  let columns = params.input_columns;
  let inputStride = params.input_stride;
  let outputStride = params.output_stride;
  let tilesAcross = (columns + side - 1u) / side;
  let tilesDown = (rows + side - 1u) / side;
  for (var index = group.x; index < tilesAcross * tilesDown; index += grid.x) {
    let strip = index / (stripTiles * tilesDown);
    let inStrip = index - strip * stripTiles * tilesDown;
    let stripWidth = min(stripTiles, tilesAcross - strip * stripTiles);
    let firstColumn = (strip * stripTiles + inStrip % stripWidth) * side;
    let firstRow = (inStrip / stripWidth) * side;
    let inputColumn = firstColumn + local.x;
    let inputRow = firstRow + local.y;
    let start = params.input_base + inputRow * inputStride + inputColumn;
    let isWhole = firstColumn + side <= columns && firstRow + side <= rows;
    var element0 = Element();
    var element1 = Element();
    var element2 = Element();
    var element3 = Element();
    if (isWhole) {
      element0 = input[start];
      element1 = input[start + 16u * inputStride];
      element2 = input[start + 32u * inputStride];
      element3 = input[start + 48u * inputStride];
    } else if (inputColumn < columns) {
      if (inputRow < rows) { element0 = input[start]; }
      if (inputRow + 16u < rows) { element1 = input[start + 16u * inputStride]; }
      if (inputRow + 32u < rows) { element2 = input[start + 32u * inputStride]; }
      if (inputRow + 48u < rows) { element3 = input[start + 48u * inputStride]; }
    }
    var outputRow = inputRow;
    var outputColumn = inputColumn;
    var outputRows = rows;
    var outputColumns = columns;
    if (transposes) {
      tile[local.y][local.x] = element0;
      tile[local.y + 16u][local.x] = element1;
      tile[local.y + 32u][local.x] = element2;
      tile[local.y + 48u][local.x] = element3;
      workgroupBarrier();
      element0 = tile[local.x][local.y];
      element1 = tile[local.x][local.y + 16u];
      element2 = tile[local.x][local.y + 32u];
      element3 = tile[local.x][local.y + 48u];
      // Before the next tile comes in.
      workgroupBarrier();
      outputRow = firstColumn + local.y;
      outputColumn = firstRow + local.x;
      outputRows = columns;
      outputColumns = rows;
    }
    let to = params.output_base + outputRow * outputStride + outputColumn;
    if (isWhole) {
      output[to] = element0;
      output[to + 16u * outputStride] = element1;
      output[to + 32u * outputStride] = element2;
      output[to + 48u * outputStride] = element3;
    } else if (outputColumn < outputColumns) {
      if (outputRow < outputRows) { output[to] = element0; }
      if (outputRow + 16u < outputRows) { output[to + 16u * outputStride] = element1; }
      if (outputRow + 32u < outputRows) { output[to + 32u * outputStride] = element2; }
      if (outputRow + 48u < outputRows) { output[to + 48u * outputStride] = element3; }
    }
  }
}
