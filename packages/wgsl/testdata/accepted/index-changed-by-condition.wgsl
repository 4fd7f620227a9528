// run: workgroups=1,1,1
// buffer input: u32[4] values(2, 5, 1, 3)
// buffer table: u32[4] iota(10)
// buffer output: u32[16]
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> table: array<u32, 4>;
@group(0) @binding(2) var<storage, read_write> output: array<u32, 16>;

// What a condition says of a variable no longer holds when a call in the same condition changes it.
fn jump(i: ptr<function, u32>, by: u32) -> u32 { *i += by; return *i; }

@compute @workgroup_size(1)
fn main() {
  var i = input[0];
  if (i < 4u && jump(&i, 40u) > 3u && table[i] > 0u) { output[0] = table[i]; }
  i = input[0];
  if (i < jump(&i, 50u)) { output[1] = table[i]; }
  i = input[0];
  if (i < 4u && jump(&i, 60u) > 3u) { output[2] = table[i]; }
  i = input[1];
  if (i >= 4u || jump(&i, 70u) == 0u) { output[3] = table[i]; } else { output[4] = table[i]; }
  i = input[0];
  while (i < 4u && jump(&i, 80u) > 3u) { output[5] = table[i]; }
  for (i = input[0]; i < 4u && jump(&i, 90u) > 3u; i += 1u) { output[6] = table[i]; }
  for (i = input[0]; i < 4u; output[7u + jump(&i, 5u) % 2u] = table[i]) { output[9] = i; }
  i = input[0];
  if (i > 3u || jump(&i, 100u) == 0u) { return; }
  output[10] = table[i];
  output[11] = input[2];
}
