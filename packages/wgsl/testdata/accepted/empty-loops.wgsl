// run: workgroups=1,1,1
// buffer data: u32[192] random(0, 4294967295)
// buffer out: u32[64]
// Branches around empty loops: ptxas crashed on several with the same condition.
@group(0) @binding(0) var<storage, read> data: array<u32, 192>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) li: u32) {
  let x = data[li]; let y = data[li + 64u];
  var a = x;
  for (var k = 0u; k < 3u; k++) { for (var q = 0u; q < 1u + (y & 1u); q++) { } }
  out[li] = a;
}
