// run: workgroups=2,2,1 tolerance=relative:0.0001,absolute:0.0001
// buffer params: u32[4] values(20, 17, 30, 0)
// buffer a: f32[340] random(-1, 1)
// buffer b: f32[510] random(-1, 1)
// buffer c: f32[600]

// C (m x n) = A (m x k) B (k x n), row-major, by 16 x 16 tiles.
struct Params { m: u32, k: u32, n: u32, }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;

const TILE = 16u;
var<workgroup> tile_a: array<array<f32, TILE>, TILE>;
var<workgroup> tile_b: array<array<f32, TILE>, TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(local_invocation_id) local: vec3u, @builtin(global_invocation_id) id: vec3u) {
  var sum = 0.0;
  for (var start = 0u; start < params.k; start += TILE) {
    let ka = start + local.x;
    let kb = start + local.y;
    tile_a[local.y][local.x] = 0.0;
    tile_b[local.y][local.x] = 0.0;
    if id.y < params.m && ka < params.k { tile_a[local.y][local.x] = a[id.y * params.k + ka]; }
    if kb < params.k && id.x < params.n { tile_b[local.y][local.x] = b[kb * params.n + id.x]; }
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) { sum += tile_a[local.y][k] * tile_b[k][local.x]; }
    workgroupBarrier();
  }
  if id.y < params.m && id.x < params.n { c[id.y * params.n + id.x] = sum; }
}
