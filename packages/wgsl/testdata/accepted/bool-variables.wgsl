// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

struct Flags { a: bool, b: bool, n: u32 }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var flag = i % 2u == 0u;
  var flags: array<bool, 4>;
  flags[i % 4u] = flag;
  flag = !flag || flags[0];
  let t = Flags(flag, flags[2], 7u);
  out[i] = u32(t.a) + u32(t.b) * 2u + t.n * 4u + u32(flags[i % 4u] == true) * 100u + select(0u, 1000u, t.a != t.b);
}
