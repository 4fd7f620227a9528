// error: returns nothing
@compute @workgroup_size(1) fn main() -> u32 { return 1; }
