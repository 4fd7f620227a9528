// run: workgroups=1,1,1
// buffer data: u32[256] random(0, 4294967295)
// buffer out: u32[256]
// Unsigned integers that are all ones or 0, compared with a 0 that nvcc does not know: ptxas took all ones for less.
@group(0) @binding(0) var<storage, read> data: array<u32, 256>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 256>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let b = data[i + 64u];
  let c = data[i + 128u];
  let d = data[i + 192u];
  let ones = 4294967295u;
  let zero = ~ones;
  let selected = select(0u, 0xffffffffu, c > d);
  out[i] = select(3u, 5u, selected >= zero);
  let negated = u32(-i32(b > c));
  out[i + 64u] = select(3u, 5u, negated < zero);
  var word = 0u;
  if (b > d) { word = ~word; }
  if (word >= zero) { out[i + 128u] = b; } else { out[i + 128u] = c; }
  out[i + 192u] = u32(word >= zero) + u32(selected < zero) * 2u;
}
