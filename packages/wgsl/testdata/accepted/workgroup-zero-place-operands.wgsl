// run: workgroups=2,1,1
// buffer memory: u32[32]
// buffer out: u32[160]

// Workgroup memory that is stored or read where a place is named: in the offset of a view, in the index of a store, in a component's index.
@group(0) @binding(0) var<storage, read_write> memory: buffer;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> offered: array<u32, 16>;
var<workgroup> chained: array<u32, 32>;
var<workgroup> pairs: array<vec2u, 32>;

fn offer(i: u32) -> u32 {
  offered[i] = i + 70;
  return i * 4;
}

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
  *bufferView<u32>(&memory, offer(i)) = i;
  if ((i & 5) == 1) {
    offered[i] = 5;
  }
  chained[i] = i + 1;
  pairs[i] = vec2u(i, i + 1);
  workgroupBarrier();
  let at = group.x * 80 + i * 5;
  out[at] = offered[i];
  out[at + 1] = pairs[pairs[i + 16].x].y;
  workgroupBarrier();
  if (i == 3) {
    chained[chained[20]] = 9;
  }
  workgroupBarrier();
  out[at + 2] = chained[i];
}
