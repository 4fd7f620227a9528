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
    for (var i = group.x * 64u + place; i < length; i += params.step) {
      let source = local_start + (first - start) + i;
      let target_place = first - params.first + i;
      received[params.received_base + target_place] = keys[params.keys_base + source];
      if (has_values) {
        store_value(target_place, value_at(source));
      }
    }
    local_start += count;
  }
}
