// error: it contains atomics
@group(0) @binding(0) var<storage, read_write> b: buffer;
@compute @workgroup_size(1) fn main() { atomicAdd(bufferView<atomic<u32>>(&b, 0), 1); }
