// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

var<private> state: u32;
fn advance() -> u32 {
  state = state * 5u + 3u;
  return state % 16u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  state = i;
  let r = state + advance() + state * advance();
  out[i] = r + state;
}
