// error: outside buffer<64>
@group(0) @binding(0) var<storage, read_write> b: buffer<64>;
@compute @workgroup_size(1) fn main() { *bufferView<u32>(&b, 64) = 1; }
