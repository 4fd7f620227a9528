// Transposes one receiver's part of a matrix from up to seven senders' slices in one dispatch: output[c][start k + r] =
// input k[r][c]. Neighbouring workgroups take tiles of different senders, and each receiver begins with another sender, so that all
// links carry data all the time and the receiver's own slice costs nothing beside them; dispatches of their own would start one
// sender after another. Inside a sender, workgroups walk down strips four tiles wide, as in transpose-strips.wgsl.
// `alias Element = …; const tileColumns = …; const tileRows = …;` come before this source: multiples of 32, at most 64.

struct Params {
  input0_base: u32,
  input0_stride: u32,
  input0_rows: u32,
  input1_base: u32,
  input1_stride: u32,
  input1_rows: u32,
  input2_base: u32,
  input2_stride: u32,
  input2_rows: u32,
  input3_base: u32,
  input3_stride: u32,
  input3_rows: u32,
  input4_base: u32,
  input4_stride: u32,
  input4_rows: u32,
  input5_base: u32,
  input5_stride: u32,
  input5_rows: u32,
  input6_base: u32,
  input6_stride: u32,
  input6_rows: u32,
  // Columns of the output where each sender's part starts.
  start0: u32,
  start1: u32,
  start2: u32,
  start3: u32,
  start4: u32,
  start5: u32,
  start6: u32,
  // How many of the inputs are used, and which of them the first workgroup reads.
  senders: u32,
  first: u32,
  output_base: u32,
  output_stride: u32,
  output_rows: u32,
}

@group(0) @binding(0) var<storage, read> input0: array<Element>;
@group(0) @binding(1) var<storage, read> input1: array<Element>;
@group(0) @binding(2) var<storage, read> input2: array<Element>;
@group(0) @binding(3) var<storage, read> input3: array<Element>;
@group(0) @binding(4) var<storage, read> input4: array<Element>;
@group(0) @binding(5) var<storage, read> input5: array<Element>;
@group(0) @binding(6) var<storage, read> input6: array<Element>;
@group(0) @binding(7) var<storage, read_write> output: array<Element>;
@group(0) @binding(8) var<uniform> params: Params;

const stripTiles = 4u;
const across = tileColumns / 32u;
const loads = tileColumns * tileRows / 256u;

// Element (r, c) lies at column c xor (r mod 32), so that neither rows nor columns meet in one bank.
var<workgroup> tile: array<Element, tileColumns * tileRows>;

@compute @workgroup_size(32, 8)
fn gather(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let index = group.y * grid.x + group.x;
  let senders = params.senders;
  let block = index / senders;
  let sender = (index - block * senders + params.first) % senders;

  // Read once: a translated kernel would otherwise wait for them again before each load.
  let columns = params.output_rows;
  let outputStride = params.output_stride;
  var base = params.input0_base;
  var stride = params.input0_stride;
  var rows = params.input0_rows;
  var start = params.start0;
  switch (sender) {
    case 1u: {
      base = params.input1_base;
      stride = params.input1_stride;
      rows = params.input1_rows;
      start = params.start1;
    }
    case 2u: {
      base = params.input2_base;
      stride = params.input2_stride;
      rows = params.input2_rows;
      start = params.start2;
    }
    case 3u: {
      base = params.input3_base;
      stride = params.input3_stride;
      rows = params.input3_rows;
      start = params.start3;
    }
    case 4u: {
      base = params.input4_base;
      stride = params.input4_stride;
      rows = params.input4_rows;
      start = params.start4;
    }
    case 5u: {
      base = params.input5_base;
      stride = params.input5_stride;
      rows = params.input5_rows;
      start = params.start5;
    }
    case 6u: {
      base = params.input6_base;
      stride = params.input6_stride;
      rows = params.input6_rows;
      start = params.start6;
    }
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
  let from0 = base + row * stride + column;
  // All loads before the first use, and one branch for all of them.
  var elements: array<Element, loads>;
  switch (sender) {
    case 0u: {
      for (var k = 0u; k < loads; k++) {
        if (column + k % across * 32u < columns && row + k / across * 8u < rows) {
          elements[k] = input0[from0 + k / across * 8u * stride + k % across * 32u];
        }
      }
    }
    case 1u: {
      for (var k = 0u; k < loads; k++) {
        if (column + k % across * 32u < columns && row + k / across * 8u < rows) {
          elements[k] = input1[from0 + k / across * 8u * stride + k % across * 32u];
        }
      }
    }
    case 2u: {
      for (var k = 0u; k < loads; k++) {
        if (column + k % across * 32u < columns && row + k / across * 8u < rows) {
          elements[k] = input2[from0 + k / across * 8u * stride + k % across * 32u];
        }
      }
    }
    case 3u: {
      for (var k = 0u; k < loads; k++) {
        if (column + k % across * 32u < columns && row + k / across * 8u < rows) {
          elements[k] = input3[from0 + k / across * 8u * stride + k % across * 32u];
        }
      }
    }
    case 4u: {
      for (var k = 0u; k < loads; k++) {
        if (column + k % across * 32u < columns && row + k / across * 8u < rows) {
          elements[k] = input4[from0 + k / across * 8u * stride + k % across * 32u];
        }
      }
    }
    case 5u: {
      for (var k = 0u; k < loads; k++) {
        if (column + k % across * 32u < columns && row + k / across * 8u < rows) {
          elements[k] = input5[from0 + k / across * 8u * stride + k % across * 32u];
        }
      }
    }
    default: {
      for (var k = 0u; k < loads; k++) {
        if (column + k % across * 32u < columns && row + k / across * 8u < rows) {
          elements[k] = input6[from0 + k / across * 8u * stride + k % across * 32u];
        }
      }
    }
  }
  for (var k = 0u; k < loads; k++) {
    let r = local.y + k / across * 8u;
    let c = local.x + k % across * 32u;
    tile[r * tileColumns + (c ^ (r & 31u))] = elements[k];
  }
  workgroupBarrier();
  let outputRow = firstColumn + local.y;
  let outputColumn = firstRow + local.x;
  let to = params.output_base + outputRow * outputStride + start + outputColumn;
  for (var down = 0u; down < tileColumns; down += 8u) {
    for (var along = 0u; along < tileRows; along += 32u) {
      if (outputRow + down < columns && outputColumn + along < rows) {
        let r = local.x + along;
        output[to + down * outputStride + along] = tile[r * tileColumns + ((local.y + down) ^ (r & 31u))];
      }
    }
  }
}
