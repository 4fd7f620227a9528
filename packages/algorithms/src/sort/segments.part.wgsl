// Moves what one device has for another: of each bucket the part whose place among all keys lies in the other's slice.

struct Params {
  keys_base: u32,
  received_base: u32,
  received_length: u32,
  totals_base: u32,
  starts_base: u32,
  values_base: u32,
  sorted_values_base: u32,
  buckets: u32,
  /** Of the other's slice, among all keys. */
  first: u32,
  /** Invocations of the dispatch. */
  step: u32,
}

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> received: array<Key>;
@group(0) @binding(2) var<storage, read> totals: array<u32>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn move_segments(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let end_of_slice = params.first + params.received_length;
  var local_start = 0u;
  for (var bucket = 0u; bucket < params.buckets; bucket++) {
    let count = totals[params.totals_base + bucket];
    let start = starts[params.starts_base + bucket];
    let first = max(start, params.first);
    let end = min(start + count, end_of_slice);
    // Counted from 0, since places go up to 2^32 - 1.
    let length = select(0u, end - first, end > first);
    let source = local_start + (first - start);
    let target_place = first - params.first;
    var i = group.x * 64u + place;
    // Loads of several keys hide the latency of memory.
    for (; i < length && length - i > 3u * params.step; i += 4u * params.step) {
      let from_here = params.keys_base + source + i;
      let to = params.received_base + target_place + i;
      let a = keys[from_here];
      let b = keys[from_here + params.step];
      let c = keys[from_here + 2u * params.step];
      let d = keys[from_here + 3u * params.step];
      received[to] = a;
      received[to + params.step] = b;
      received[to + 2u * params.step] = c;
      received[to + 3u * params.step] = d;
      if (has_values) {
        for (var k = 0u; k < 4u; k++) {
          store_value(target_place + i + k * params.step, value_at(source + i + k * params.step));
        }
      }
    }
    for (; i < length; i += params.step) {
      received[params.received_base + target_place + i] = keys[params.keys_base + source + i];
      if (has_values) {
        store_value(target_place + i, value_at(source + i));
      }
    }
    local_start += count;
  }
}
