// run: workgroups=1,1,1
// buffer data: u32[320] random(0, 100)
// buffer out: u32[320]
// A selection by a flag is added to a number after the flag has changed: ptxas selected by the flag's later value.
@group(0) @binding(0) var<storage, read> data: array<u32, 320>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 320>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[i];
  let y = data[i + 64u];
  let z = data[i + 128u];
  let u = data[i + 192u];
  let v = data[i + 256u];
  var flag = (x & 32u) == 0u;
  var sum = select(x, y, flag);
  for (var k = 0u; k < (z & 7u); k++) { sum = sum * 3u + k; }
  out[i + 128u] = sum;
  let other = y > 40u;
  let twice = u32(flag) * 2u;
  out[i + 192u] = twice + u32(other);
  if (z > 50u) {
    flag = u < v;
    out[i + 256u] = x;
  }
  out[i] = select(9u, 5u, flag);
  out[i + 64u] = twice + y;
}
