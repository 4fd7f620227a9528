// run: workgroups=1,1,1
// buffer data: u32[64] special
// buffer out: u32[64]
// nvcc joins the same two predicates in several ways, and ptxas makes one instruction of two of these.
@group(0) @binding(0) var<storage, read> data: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var a = data[i] > 5u; var b = (data[i] & 4u) != 0u; var r = 0u;
  for (var k = 0u; k < 9u; k++) {
    b = (a && b) == a;
    if (a || b) { r += data[k]; }
    if (a && b) { r ^= 7u * k; a = data[(i + k) % 64u] > 9u; }
    r = select(r, r * 3u, a != b);
  }
  out[i] = r;
}
