// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  var n = i + 1u;
  var steps = 0u;
  while (n != 1u) {
    n = select(n / 2u, n * 3u + 1u, n % 2u == 1u);
    steps++;
  }
  out[i] = steps;
}
