// error: needs @workgroup_size
@compute fn main() { }
