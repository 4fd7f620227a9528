// The update of a loop assigns components in several steps, or names an element, and a barrier follows.
// run: workgroups=2,1,1
// buffer out: u32[128]
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(local_invocation_index) i: u32,
) {
  var v = vec3u(1u, i, 3u);
  for (var k = 0u; k < 3u; v.xy = v.yx + k) {
    k++;
  }
  var t: array<array<u32, 2>, 2>;
  for (var k = 0u; k < 2u; _ = &t[k][k]) {
    t[k][k] = v[k];
    k++;
  }
  workgroupBarrier();
  out[id.x] = v.x * 100u + v.y * 10u + t[0][0] + t[1][1];
}
