// run: workgroups=1,1,1
// buffer source: f32[512] random
// buffer result: f32[512]

// Copies that others of the same thread follow or precede before the barrier: order shows.
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;

var<workgroup> twice: array<vec4f, 64>;
var<workgroup> again: array<vec4f, 64>;
var<workgroup> seen: array<vec4f, 64>;
var<workgroup> moved: array<vec4f, 65>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) thread: u32) {
  twice[thread] = source[thread];
  twice[thread] = source[thread + 32u];
  for (var k = 0u; k < 4u; k++) { again[thread] = source[thread + k * 32u]; }
  seen[thread] = source[thread];
  let mine = seen[thread];
  var slot = thread;
  moved[slot * 2u + 1u] = source[slot];
  slot += 32u;
  moved[slot * 2u - 63u] = source[slot];
  workgroupBarrier();
  result[thread] = twice[31u - thread];
  result[thread + 32u] = again[31u - thread];
  result[thread + 64u] = mine + seen[31u - thread];
  result[thread + 96u] = moved[(31u - thread) * 2u + 1u];
}
