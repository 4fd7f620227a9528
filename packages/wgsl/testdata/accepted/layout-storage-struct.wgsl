// run: workgroups=1,1,1
// buffer data: u32[96] iota(100, 1)

struct Item { id: u32, @align(8) tag: u32, position: vec3f, flags: array<u32, 3>, }
struct Data { head: vec2u, items: array<Item, 2>, tail: u32, rest: array<vec2u>, }
@group(0) @binding(0) var<storage, read_write> data: Data;

@compute @workgroup_size(1)
fn main() {
  data.items[0].id += data.items[1].flags[2];
  data.items[1].tag = data.head.y;
  data.items[1].position = vec3f(1.0, 2.0, 3.0);
  data.items[0] = data.items[1];
  data.tail = arrayLength(&data.rest);
  data.rest[1] = vec2u(7u, 8u);
  data.rest[arrayLength(&data.rest) - 1u].y = 9u;
  let whole = data.items;
  data.items[1] = whole[0];
}
