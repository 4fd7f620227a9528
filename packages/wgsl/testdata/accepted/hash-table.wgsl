// run: workgroups=1,1,1
// buffer keys: u32[32] iota(1, 37)
// buffer out: u32[65]

struct Table { slots: array<atomic<u32>, 64>, used: atomic<u32>, }
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: Table;

// Open addressing; one thread inserts, so that the places are the same everywhere.
@compute @workgroup_size(1)
fn main() {
  for (var i = 0u; i < arrayLength(&keys); i++) {
    let key = keys[i];
    var slot = (key * 2654435761u) >> 26u;
    loop {
      let result = atomicCompareExchangeWeak(&out.slots[slot], 0u, key);
      if result.exchanged { atomicAdd(&out.used, 1u); break; }
      if result.old_value == 0u { continue; }
      slot = (slot + 1u) & 63u;
      continuing { }
    }
  }
}
