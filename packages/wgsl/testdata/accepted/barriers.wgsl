// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> ring: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  ring[i] = i;
  for (var step = 0u; step < 6u; step++) {
    workgroupBarrier();
    let next = ring[(i + 1u) % 64u];
    workgroupBarrier();
    ring[i] = next * 3u + 1u;
    storageBarrier();
  }
  workgroupBarrier();
  out[i] = ring[63u - i];
  storageBarrier();
  textureBarrier();
}
