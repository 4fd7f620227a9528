// run: workgroups=2,1,1
// buffer counters: u32[8]
// buffer out: u32[1]
// The weak exchange never fails spuriously and gives a structure.
@group(0) @binding(0) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> out: atomic<u32>;

var<workgroup> most: atomic<i32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  atomicMax(&most, i32(i));
  atomicAdd(&counters[i % 4u], i);
  atomicOr(&counters[4], 1u << (i % 32u));
  var seen = atomicLoad(&counters[5]);
  loop {
    let result = atomicCompareExchangeWeak(&counters[5], seen, seen + 3u);
    if (result.exchanged) {
      break;
    }
    seen = result.old_value;
  }
  workgroupBarrier();
  if (i == 0u) {
    atomicAdd(&out, u32(atomicLoad(&most)));
  }
}
