// run: workgroups=1,1,1 tolerance=absolute:0.02
// buffer values: f16[68] random(-1, 1)
// buffer out: f16[64]
enable f16;

@group(0) @binding(0) var<storage, read> values: array<f16>;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;
const weights = array<f16, 5>(0.0625h, 0.25h, 0.375h, 0.25h, 0.0625h);

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  var sum: f16 = 0;
  for (var k = 0u; k < 5u; k++) { sum += weights[k] * values[i + k]; }
  out[i] = sum;
}
