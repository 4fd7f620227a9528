// run: workgroups=3,1,1
// buffer source: u32[768] random
// buffer result: u32[768]

// The copies stand in a function that is called once for each half.
@group(0) @binding(0) var<storage, read> source: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4u>;

var<workgroup> tile: array<vec4u, 64>;

fn fetch(slot: u32, at: u32) {
  tile[slot] = source[at];
  tile[slot + 1u] = source[at + 1u];
}

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
  let first = group.x * 64u;
  fetch(thread * 4u, first + thread * 4u);
  fetch(thread * 4u + 2u, first + thread * 4u + 2u);
  workgroupBarrier();
  for (var k = 0u; k < 4u; k++) {
    result[first + thread + k * 16u] = tile[63u - thread - k * 16u];
  }
}
