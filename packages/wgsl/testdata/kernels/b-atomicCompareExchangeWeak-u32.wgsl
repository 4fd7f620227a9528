// run: workgroups=1,1,1
// buffer out: u32[2] values(5, 0)

@group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>, 2>;

@compute @workgroup_size(64)
fn main() {
  // Each thread adds 3 by a loop of exchanges, which may fail spuriously.
  var done = false;
  for (var tries = 0; tries < 100000 && !done; tries++) {
    let seen = atomicLoad(&out[0]);
    let result = atomicCompareExchangeWeak(&out[0], seen, seen + 3);
    if result.exchanged {
      done = true;
      if result.old_value != seen {
        atomicAdd(&out[1], 1);
      }
    }
  }
}
