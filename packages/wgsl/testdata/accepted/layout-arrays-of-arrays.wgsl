// run: workgroups=1,1,1
// buffer data: u32[96] iota(0, 1)
// buffer out: u32[24]

@group(0) @binding(0) var<storage, read> data: array<array<array<u32, 4>, 3>>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 3>, 8>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  let block = data[i];
  for (var k = 0u; k < 3u; k++) { out[i][k] = block[k][(i + k) % 4u] + data[7u - i][2u - k][3] * 1000u; }
}
