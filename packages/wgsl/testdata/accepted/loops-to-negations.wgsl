// run: workgroups=1,1,1
// buffer given: u32[256] random
// buffer out: u32[256]
// Loops that count by more than 1 to the negation of an integer, which ptxas took for the integer itself.
@group(0) @binding(0) var<storage, read> given: array<u32, 256>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let first = 0i - (bitcast<i32>(given[i]) & 15i);
  let second = 0i - (bitcast<i32>(given[i + 64u]) & 31i);
  var sum = i;
  for (var k = 10i; k > first; k -= 5i) {
    sum += given[bitcast<u32>(k) & 255u];
  }
  out[i] = sum;
  for (var k = 20i; k >= second; k -= 3i) {
    sum = sum * 3u + bitcast<u32>(k);
  }
  out[i + 64u] = sum;
  for (var k = -40i; k < second; k += 7i) {
    sum ^= given[bitcast<u32>(k) & 255u];
  }
  out[i + 128u] = sum;
  let third = bitcast<i32>(given[i + 128u]) & 7i;
  for (var k = third; k >= 0i - third; k -= 6i) {
    sum = sum * 3u + bitcast<u32>(k);
  }
  out[i + 192u] = sum;
}
