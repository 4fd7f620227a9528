const has_values = false;

fn value_at(index: u32) -> u32 {
  return index;
}

fn store_value(index: u32, value: u32) {}
