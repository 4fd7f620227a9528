// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var a = array<array<u32, 4>, 2>();
  var k = i % 4u;
  let row = &a[i % 2u];
  let cell = &row[k];
  k = 0u;
  *cell = 7u;
  (*row)[0] += 2u;
  out[i] = a[0][0] + a[1][0] * 10u + a[i % 2u][i % 4u] * 100u;
}
