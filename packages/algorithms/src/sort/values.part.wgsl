//// none
const has_values = false;

fn value_at(index: u32) -> u32 {
  return index;
}

fn store_value(index: u32, value: u32) {}
//// given
const has_values = true;

@group(0) @binding(7) var<storage, read> values: array<Value>;
@group(0) @binding(8) var<storage, read_write> sorted_values: array<Value>;

fn value_at(index: u32) -> u32 {
  return bitcast<u32>(values[params.values_base + index]);
}

fn store_value(index: u32, value: u32) {
  sorted_values[params.sorted_values_base + index] = bitcast<Value>(value);
}
//// indices
// The values are the indices of the elements.

const has_values = true;

@group(0) @binding(8) var<storage, read_write> sorted_values: array<Value>;

fn value_at(index: u32) -> u32 {
  return params.first_index + index;
}

fn store_value(index: u32, value: u32) {
  sorted_values[params.sorted_values_base + index] = bitcast<Value>(value);
}
