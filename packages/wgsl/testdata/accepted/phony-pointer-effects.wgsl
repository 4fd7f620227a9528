// run: workgroups=1,1,1
// buffer out: u32[4]

// Assigning a pointer to nothing evaluates the indices on its path.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<private> n: u32;
var<private> values: array<vec2u, 4>;
var<workgroup> bytes: buffer<64>;

fn next() -> u32 {
  n++;
  return n;
}

@compute @workgroup_size(1)
fn main() {
  _ = &values[next() % 4];
  out[0] = n;
  _ = bufferView<u32>(&bytes, next() * 4);
  out[1] = n;
}
