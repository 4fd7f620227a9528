// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

const BIG = 1 << 30;
const HALF = 1 / 2.0;
const COUNT: u32 = 5;
const MASK = 0xabcd;
const SHIFT = (0xff00 >> 4) % 1000;
const_assert COUNT == 5 && HALF < 1;
const_assert BIG > 1000000;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  const local = BIG / 3;
  out[i] = u32(local) + u32(HALF * 4.0) + COUNT * 2u + u32(MASK & 0xff) + u32(SHIFT) + i * 0u;
}
