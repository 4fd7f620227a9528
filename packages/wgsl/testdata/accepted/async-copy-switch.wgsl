// run: workgroups=2,1,1
// buffer source: f32[512] random
// buffer result: f32[512]

// Each case copies other elements; the index of one is read from memory.
struct Source { scale: vec4f, rows: array<array<vec4f, 8>> }
@group(0) @binding(0) var<storage, read> source: Source;
@group(0) @binding(1) var<storage, read_write> result: array<vec4f>;

var<workgroup> tile: array<vec4f, 64>;
var<workgroup> order: array<u32, 64>;
var<workgroup> go: u32;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3u) {
  order[thread] = thread ^ 5u;
  switch thread % 3u {
    case 0u: { tile[thread] = source.rows[thread / 8u + group.x][thread % 8u]; }
    case 1u: { tile[order[thread] ^ 5u] = source.rows[group.x][thread & 7u]; }
    default: { tile[thread] = source.rows[0][7u - (thread & 7u)]; }
  }
  if thread == 0u { go = group.x + 1u; }
  let factor = f32(workgroupUniformLoad(&go));
  result[group.x * 64u + thread] = tile[63u - thread] * factor * source.scale;
}
