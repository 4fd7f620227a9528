// run: workgroups=2,1,1
// buffer a: u32[40] iota(100, 1)
// buffer indices: u32[8] values(3, 9, 7, 31)
// buffer out: u32[64]
// Reads past the end take the last element; ranges and conditions make checks unneeded.
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<uniform> indices: array<vec4u, 2>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

var<workgroup> tile: array<u32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
  tile[i] = a[id.x];
  workgroupBarrier();
  var weights = array<u32, 4>(1u, 2u, 3u, 4u);
  weights[i % 4u] += 1u;
  let known = tile[(i + 8u) & 31u] + weights[i / 8u];
  let unknown = tile[indices[0].w + 0u] + weights[indices[0].y];
  out[id.x] = known + unknown;
  if (id.x < arrayLength(&out)) {
    out[id.x] += a[id.x];
  }
}
