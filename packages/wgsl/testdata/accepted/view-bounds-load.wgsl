// run: workgroups=1,1,1
// buffer words: u32[64] iota(5, 1)
// buffer out: u32[8]

// A view that begins at the end of its buffer.
@group(0) @binding(0) var<storage, read> words: buffer;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
  if (i > 5u) {
    out[i] = *bufferView<u32>(&words, (57u + i + arrayLength(&out) - 8u) * 4u);
  }
}
