// run: workgroups=1,1,1 tolerance=relative:0.0001,absolute:0.0001
// buffer a: f32[256] random(-1, 1)
// buffer b: f32[256] random(-1, 1)
// buffer c: f32[256]

// 16 x 16 by 16 x 16, each thread a 4 x 4 block in registers.
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;

@compute @workgroup_size(4, 4)
fn main(@builtin(local_invocation_id) id: vec3u) {
  var sums: array<vec4f, 4>;
  for (var k = 0u; k < 4u; k++) {
    var rows: array<vec4f, 4>;
    for (var r = 0u; r < 4u; r++) { rows[r] = a[(id.y * 4u + r) * 4u + k]; }
    for (var q = 0u; q < 4u; q++) {
      let row = b[(k * 4u + q) * 4u + id.x];
      for (var r = 0u; r < 4u; r++) { sums[r] = fma(vec4f(rows[r][q]), row, sums[r]); }
    }
  }
  for (var r = 0u; r < 4u; r++) { c[(id.y * 4u + r) * 4u + id.x] = sums[r]; }
}
