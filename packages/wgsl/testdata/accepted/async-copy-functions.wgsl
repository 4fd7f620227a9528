// run: workgroups=2,1,1
// buffer a: u32[8192] random
// buffer size: u32[4] values(8, 0, 0, 0)
// buffer out: u32[512]

// The copies, the sums and the barriers stand in functions.
@group(0) @binding(0) var<storage, read> a: array<vec4u>;
@group(0) @binding(1) var<uniform> size: vec4u;
@group(0) @binding(2) var<storage, read_write> out: array<vec4u>;
var<workgroup> even: array<vec4u, 256>;
var<workgroup> odd: array<vec4u, 256>;
var<workgroup> single: array<vec4u, 64>;

alias Tile = ptr<workgroup, array<vec4u, 256>>;

fn fetch(tile: Tile, id: vec3u, k: u32) {
  for (var i = 0u; i < 4u; i++) {
    let at = id.x + i * 64u;
    tile[at] = a[k * 128u + (at & 127u)];
  }
}

fn fetch_row(tile: Tile, at: u32, k: u32) {
  if (k > 900u) {
    return;
  }
  tile[at] = a[k * 128u + (at & 127u)];
}

fn added(tile: Tile, id: vec3u, before: vec4u) -> vec4u {
  var sum = before;
  for (var i = 0u; i < 4u; i++) {
    sum = sum * 3u + tile[(id.x * 4u + i * 7u) & 255u];
  }
  return sum;
}

fn meet() {
  workgroupBarrier();
}

// Reads an element before any barrier: this copy waits for memory.
fn read_back(id: vec3u, k: u32) -> vec4u {
  single[id.x] = a[k + id.x];
  return single[id.x];
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) id: vec3u) {
  var sum = vec4u();
  fetch(&even, id, group.x);
  meet();
  for (var k = 0u; k < size.x; k += 2u) {
    for (var i = 0u; i < 4u; i++) {
      fetch_row(&odd, id.x + i * 64u, k + 1u);
    }
    sum = added(&even, id, sum);
    sum += read_back(id, k);
    meet();
    fetch(&even, id, k + 2u);
    sum = added(&odd, id, sum);
    meet();
  }
  out[group.x * 64u + id.x] = sum + single[63u - id.x];
}
