// The end of a leaf by subgroups: 256 lane values to one, with one barrier. For operations on integers (keys included), whose
// result depends neither on the order nor on how wide subgroups are. Needs `enable subgroups;` at the source's start.

// Starts at 0, as WGSL zeroes workgroup memory; a minimum is the complement of the complements' maximum.
var<workgroup> whole: atomic<u32>;

fn leafTotal(lane: u32, value: u32) -> u32 {
  if (operation == 0u) {
    let part = subgroupAdd(value);
    if (subgroupElect()) {
      atomicAdd(&whole, part);
    }
  } else {
    let part = subgroupMax(select(value, ~value, operation == 2u));
    if (subgroupElect()) {
      atomicMax(&whole, part);
    }
  }
  workgroupBarrier();
  let total = atomicLoad(&whole);
  return select(total, ~total, operation == 2u);
}
