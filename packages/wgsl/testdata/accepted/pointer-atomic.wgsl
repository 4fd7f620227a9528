// run: workgroups=1,1,1
// buffer out: u32[4]

struct Counters { hits: atomic<u32>, misses: array<atomic<u32>, 3>, }
@group(0) @binding(0) var<storage, read_write> out: Counters;
var<workgroup> total: atomic<u32>;

fn count(p: ptr<storage, atomic<u32>, read_write>) -> u32 { return atomicAdd(p, 1u); }
fn count_local(p: ptr<workgroup, atomic<u32>>, by: u32) { atomicAdd(p, by); }

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  if i % 3u == 0u {
    _ = count(&out.hits);
  } else {
    count(&out.misses[i % 3u]);
  }
  count_local(&total, i);
  workgroupBarrier();
  if i == 0u {
    atomicStore(&out.misses[0], atomicLoad(&total));
  }
}
