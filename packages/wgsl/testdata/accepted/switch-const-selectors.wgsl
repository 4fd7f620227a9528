// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

const first = 3;
const second = 9u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  switch i32(i) {
    case first, first + 1: { out[i] = 1; }
    case i32(second): { out[i] = 2; }
    case -first: { out[i] = 3; }
    default: { out[i] = 4; }
  }
}
