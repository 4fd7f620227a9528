// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn next(p: ptr<function, u32>) -> u32 {
  *p += 1u;
  return 0u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var table: array<array<u32, 2>, 2>;
  var k = id.x % 4u;
  var turns = 0u;
  for (_ = &table[next(&k)][next(&k)]; k < 20u; _ = &table[next(&k)][next(&k)]) {
    if turns == 5u { turns += 100u; continue; }
    turns += 1u;
  }
  // One index that is a call: a single declaration in the loop's head.
  for (var j = 0u; j < 3u; _ = &table[next(&j)]) { turns += 1000u; }
  out[id.x] = turns * 100u + k;
}
