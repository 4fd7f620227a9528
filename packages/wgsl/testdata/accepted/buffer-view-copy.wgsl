// run: workgroups=1,1,1
// buffer out: u32[64] iota(0, 4)
//
// A value stays as it was read while a view that overlaps its own is written: nvcc copies from one to the other, word by word.
requires buffer_view;
@group(0) @binding(0) var<storage, read_write> out: buffer;

fn put(to: ptr<storage, array<u32, 40>, read_write>, value: array<u32, 40>) { *to = value; }

@compute @workgroup_size(1)
fn main() {
  let words = bufferView<array<u32, 64>>(&out, 0);
  let source = bufferView<array<u32, 40>>(&out, (*words)[0]);
  *bufferView<array<u32, 40>>(&out, (*words)[1]) = *source;
  let kept = *source;
  put(bufferView<array<u32, 40>>(&out, (*words)[5]), kept);
}
