// run: workgroups=1,1,1
// buffer limits: u32[8] values(0, 1, 5, 9, 13, 2, 3, 30)
// buffer out: u32[8]
// Counted loops end by themselves; others are kept from being assumed to.
@group(0) @binding(0) var<storage, read> limits: array<u32, 8>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 8>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  var sum = 0u;
  for (var k = 0u; k < limits[i]; k++) {
    sum += k * k;
  }
  var x = limits[i] + 1u;
  while (x != 1u) {
    x = select(x / 2u, 3u * x + 1u, x % 2u == 1u);
    sum++;
  }
  for (var k = 0u; k < 4u; k++) {
    sum ^= k << i;
  }
  out[i] = sum;
}
