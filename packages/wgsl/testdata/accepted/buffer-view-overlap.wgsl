// A composite is copied from one view of a buffer to another that overlaps it: every part is read before one is written.
// run: workgroups=1,1,1
// buffer memory: u32[256] iota(1, 1)
// buffer offsets: u32[4] values(0, 4, 8, 16)
// buffer copied: u32[64]
requires buffer_view;
struct Padded { a: vec2u, b: array<vec3u, 3>, c: u32 }

@group(0) @binding(0) var<storage, read_write> memory: buffer;
@group(0) @binding(1) var<storage> offsets: array<u32, 4>;
@group(0) @binding(2) var<storage, read_write> copied: array<u32, 64>;
var<workgroup> shared_memory: buffer<256>;

@compute @workgroup_size(1)
fn main() {
  let words = bufferView<array<u32, 64>>(&memory, offsets[0]);
  *bufferView<array<u32, 64>>(&memory, offsets[1]) = *words;
  let matrix = bufferView<mat2x2f>(&memory, offsets[0] + 512);
  *bufferView<mat2x2f>(&memory, offsets[2] + 512) = *matrix;
  let padded = bufferView<Padded>(&memory, offsets[0] + 640);
  *bufferView<Padded>(&memory, offsets[3] + 640) = *padded;
  let all = bufferView<array<u32, 64>>(&shared_memory, 0);
  for (var i = 0u; i < 64u; i++) { (*all)[i] = i; }
  (*bufferView<Padded>(&shared_memory, offsets[3])).b = (*bufferView<Padded>(&shared_memory, offsets[0])).b;
  copied = *all;
}
