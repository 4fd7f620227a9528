// run: workgroups=1,1,1
// buffer input: u32[16] iota(1, 1)
// buffer guard: u32[16] iota(1000, 1)
// buffer out: u32[64]

// A view at an offset outside of its buffer reads and writes something inside.
@group(0) @binding(0) var<storage, read> input: buffer;
@group(0) @binding(1) var<storage, read> guard: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> tile: buffer<32>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
  let far = guard[i] * 8;
  let word = *bufferView<u32>(&input, far);
  out[i] = select(0u, 1u, word <= 16);
  let view = bufferView<array<u32>>(&input, far);
  out[i + 16] = select(0u, 1u, view[i * 100] <= 16);
  // One invocation: where the write lands is nobody else's to know.
  if (i == 3u) {
    *bufferView<u32>(&tile, far) = 5;
  }
  workgroupBarrier();
  out[i + 32] = select(0u, 1u, *bufferView<u32>(&tile, far + 4) <= 5);
  let limited = bufferArrayView<array<u32>>(&tile, i, far);
  out[i + 48] = select(0u, 1u, limited[i] <= 5);
}
