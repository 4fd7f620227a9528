// error: a structure cannot hold buffers
struct S { b: buffer<16> }
@compute @workgroup_size(1) fn main() { }
