// run: workgroups=1,1,1
// buffer items: f32[45] iota(0, 1)
// buffer out: u32[3]
// The length of a runtime-sized array comes from the bytes bound.
struct Items {
  count: u32,
  items: array<vec3f>,
}
@group(0) @binding(0) var<storage, read> items: Items;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(1)
fn main() {
  out[0] = arrayLength(&items.items);
  out[1] = arrayLength(&out);
  out[2] = u32(items.items[arrayLength(&items.items) - 1u].y);
}
