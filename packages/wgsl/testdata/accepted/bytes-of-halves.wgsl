// run: workgroups=1,1,1
// buffer data: u32[64] random(0, 4294967295)
// buffer out: u32[64]
// nvcc stores each byte of an element of this array for itself, and ptxas took the low byte for the number in it.
enable f16;
@group(0) @binding(0) var<storage, read> data: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 64>;

fn hash(a: array<f16, 5>) -> u32 {
  var h = 1u;
  for (var k = 0u; k < 5u; k++) { h = h * 31u + u32(a[k]); }
  return h;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[i];
  var a: array<f16, 5>;
  for (var k = 0u; k < 5u; k++) { a[k] = f16((x + k) & 63u); }
  for (var k = 0u; k < 3u; k++) { a[x % 5u] = f16(u32(a[x % 5u] + 1.0h) & 63u); }
  out[i] = hash(a);
}
