// error: not a multiple of 8, the alignment of vec2u
@group(0) @binding(0) var<storage, read_write> b: buffer;
@compute @workgroup_size(1) fn main() { *bufferView<vec2u>(&b, 4) = vec2u(1); }
