// error: not a multiple of 4
var<workgroup> b: buffer<6>;
@compute @workgroup_size(1) fn main() { *bufferView<u32>(&b, 0) = 1; }
