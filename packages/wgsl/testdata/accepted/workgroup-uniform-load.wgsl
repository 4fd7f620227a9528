// run: workgroups=2,1,1
// buffer out: u32[128]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> limit: u32;
var<workgroup> pair: vec2u;
var<workgroup> counter: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u) {
  if i == 5u {
    limit = 3u + group.x;
    pair = vec2u(7u, 9u);
  }
  atomicAdd(&counter, 2u);
  let n = workgroupUniformLoad(&limit);
  let p = workgroupUniformLoad(&pair);
  let c = workgroupUniformLoad(&counter);
  var sum = 0u;
  for (var k = 0u; k < n; k++) {
    workgroupBarrier();
    sum += p.x * k;
  }
  out[id.x] = sum + p.y + c * 1000u;
}
