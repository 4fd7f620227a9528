// run: workgroups=1,1,1
// buffer words: u32[64] iota(5, 1)
// buffer out: u32[8]

// The lengths of views that end inside, and of one that ends outside, of their buffer.
@group(0) @binding(0) var<storage, read> words: buffer;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn length(offset: u32, size: u32) -> u32 {
  return arrayLength(bufferArrayView<array<u32>>(&words, offset, size));
}

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = length(i * 32u, 32u - i % 7u) + length(i * 33u + 8u, 24u);
}
