// run: workgroups=2,1,1
// buffer source: f32[8192] random(-8, 8)
// buffer turns: u32[4] values(5, 0, 0, 0)
// buffer result: f32[512]

// Copies from storage to workgroup memory go on while the invocation computes, up to the next barrier.
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<uniform> turns: vec4u;
@group(0) @binding(2) var<storage, read_write> result: array<vec4f>;

var<workgroup> even: array<vec4f, 128>;
var<workgroup> odd: array<vec4f, 128>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
  let first = group.x * 512u + thread;
  var sum = vec4f();
  even[thread] = source[first];
  even[thread + 64u] = source[first + 64u];
  workgroupBarrier();
  for (var turn = 0u; turn < turns.x; turn += 2u) {
    let next = first + (turn + 1u) * 128u;
    for (var part = 0u; part < 2u; part++) {
      odd[thread + part * 64u] = source[next + part * 64u];
    }
    for (var i = 0u; i < 128u; i++) { sum += even[(i + thread) & 127u]; }
    workgroupBarrier();
    if turn + 1u >= turns.x { break; }
    even[thread] = source[next + 128u];
    even[thread + 64u] = source[next + 192u];
    for (var i = 0u; i < 128u; i++) { sum += odd[(i + thread) & 127u]; }
    workgroupBarrier();
  }
  result[group.x * 64u + thread] = sum;
}
