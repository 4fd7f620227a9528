// run: workgroups=1,1,1
// buffer data: u32[128] random
// buffer out: i32[384]
// Sums of products of signed bytes and nibbles: nvcc made instructions of them that take two halves or four bytes,
// without extending the signs of narrower parts to these.
@group(0) @binding(0) var<storage, read> data: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<i32, 384>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = bitcast<i32>(data[i]);
  let b = data[i + 64u];
  let x = unpack4xI8(data[i]);
  let y = unpack4xI8(b);
  out[i] = x.x * y.x + x.z * y.z;
  out[i + 64u] = dot(x.yw, y.xz);
  out[i + 128u] = x.x * 3i + x.z * 5i;
  out[i + 192u] = bitcast<i32>(bitcast<u32>(extractBits(a, 0u, 8u)) * bitcast<u32>(y.x)
    + bitcast<u32>(extractBits(a, 16u, 8u)) * bitcast<u32>(y.z));
  out[i + 256u] = extractBits(a, 0u, 4u) * y.x + extractBits(a, 8u, 4u) * y.y
    + extractBits(a, 16u, 4u) * y.z + extractBits(a, 24u, 4u) * y.w;
  out[i + 320u] = dot(x, y) + dot4I8Packed(data[i], b);
}
