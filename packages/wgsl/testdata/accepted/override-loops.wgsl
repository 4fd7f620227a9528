// run: workgroups=1,1,1 constants=N:5
// buffer out: u32[8]

override N: u32;
override LAST = N - 1;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(N + 3, 1, 1)
fn main(@builtin(local_invocation_index) i: u32) {
  var sum = 0u;
  for (var k = 0u; k < N; k++) { sum += k * i; }
  if i == LAST { sum += 1000u; }
  out[i] = sum;
}
