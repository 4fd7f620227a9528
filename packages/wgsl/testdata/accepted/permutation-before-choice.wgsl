// run: workgroups=1,1,1
// buffer data: u32[256] random(0, 4294967295)
// buffer out: u32[384]
// The low bytes of a permutation of bytes, behind a choice between its operand and another value: ptxas took them of the value chosen. nvcc writes such
// permutations for sm_100 and newer, and of bytes that it puts together for older ones.
@group(0) @binding(0) var<storage, read> data: array<u32, 256>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 384>;

fn swap(b: u32) -> u32 {
  return (b >> 24u) | ((b >> 8u) & 0xff00u) | ((b << 8u) & 0xff0000u) | (b << 24u);
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let a = data[i];
  var b = data[i + 64u];
  let c = data[i + 128u];
  let d = data[i + 192u];
  let swapped = swap(b);
  if (c > 0x80000000u) { b = c - d; }
  out[i] = b;
  out[i + 64u] = swapped & 0xffffu;
  out[i + 128u] = swapped & 0xffffffu;
  let low = a & 255u;
  let joined = low | ((d & 255u) << 8u);
  var chosen = low;
  if (c > 0x40000000u) { chosen = c + d; }
  out[i + 192u] = chosen;
  out[i + 256u] = ~(~joined) & 255u;
  out[i + 320u] = d;
}
