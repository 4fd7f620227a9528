// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn middle(i: u32) -> u32 { return SCALE * last(i); }
fn later(i: u32) -> u32 { return middle(i) + OFFSET; }
const OFFSET = SCALE + 1u;
fn last(i: u32) -> u32 { return i + 1u; }
const SCALE = 3u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = later(i);
}
