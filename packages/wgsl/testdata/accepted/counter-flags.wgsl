// run: workgroups=1,1,1
// buffer given: u32[128] random
// buffer out: u32[192]
// buffer n: u32[4] values(2, 19)
// A comparison of a counter that the loop carries into its next round and branches on: nvcc exchanged != and == in
// front of other loops.
@group(0) @binding(0) var<storage, read> given: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 192>;
@group(0) @binding(2) var<uniform> n: vec4<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = given[i];
  var sum = x;
  var was = false;
  var isOn = (x & 2u) != 0u;
  for (var k = 0u; k < min(n.y, 50u); k++) {
    if (was && isOn) {
      sum += 1u;
    }
    was = k != 2u;
    if (was) {
      out[i + 64u] += given[(sum + k) & 127u];
    }
    isOn = true;
  }
  for (var k = 0u; k < 8u; k++) {
    for (var j = 0u; j < n.x; j++) {
    }
  }
  out[i] = sum;
}
