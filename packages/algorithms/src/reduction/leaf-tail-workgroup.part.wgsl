// The end of a leaf: 256 lane values to one, which lane 0 returns. Two barriers; the order that best-vectors.wgsl documents.

var<workgroup> lanes: array<u32, 256>;
var<workgroup> columns: array<u32, 16>;

fn leafTotal(lane: u32, value: u32) -> u32 {
  lanes[lane] = value;
  workgroupBarrier();
  if (lane < 16u) {
    var column = lanes[lane];
    for (var row = 1u; row < 16u; row++) {
      column = combine(column, lanes[lane + 16u * row]);
    }
    columns[lane] = column;
  }
  workgroupBarrier();
  var total = columns[0];
  if (lane == 0u) {
    for (var column = 1u; column < 16u; column++) {
      total = combine(total, columns[column]);
    }
  }
  return total;
}
