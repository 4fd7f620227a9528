// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var sum = 0u;
  for (var k = 0u; k < 12u; k++) {
    switch (k + i) % 4u {
      case 0u: { continue; }
      case 1u: { sum += 1u; break; }
      case 2u, 3u: {
        if k > 8u { break; }
        sum += 10u;
      }
      default: {}
    }
    sum += 100u;
  }
  out[i] = sum;
}
