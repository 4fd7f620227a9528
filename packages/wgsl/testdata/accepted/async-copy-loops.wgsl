// run: workgroups=2,1,1
// buffer source: i32[2048] random
// buffer rounds: u32[4] values(3, 0, 0, 0)
// buffer result: i32[256]

// One tile, filled by loops and read between two barriers; the second loop starts from the thread.
@group(0) @binding(0) var<storage, read> source: array<vec4i>;
@group(0) @binding(1) var<uniform> rounds: vec4u;
@group(0) @binding(2) var<storage, read_write> result: array<vec4i>;

var<workgroup> tile: array<array<vec4i, 32>, 2>;
var<workgroup> line: array<vec4i, 96>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
  var sum = vec4i();
  var round = 0u;
  loop {
    if round >= rounds.x { break; }
    let first = group.x * 256u + round * 64u;
    for (var row = 0u; row < 2u; row++) { tile[row][thread] = source[first + row * 32u + thread]; }
    for (var i = thread; i < 96u; i += 32u) { line[i] = source[(first + i * 3u) & 511u]; }
    workgroupBarrier();
    for (var k = 0u; k < 32u; k++) { sum += tile[k & 1u][(k + thread) % 32u] * line[k * 3u]; }
    workgroupBarrier();
    continuing { round++; }
  }
  result[group.x * 32u + thread] = sum;
}
