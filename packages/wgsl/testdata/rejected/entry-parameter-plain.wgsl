// error: needs @builtin or @location
@compute @workgroup_size(1) fn main(a: u32) { }
