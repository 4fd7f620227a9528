// run: workgroups=1,1,1
// buffer values: u32[64] values(0, 1, 4294967295, 5, 7, 2147483648, 2)
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let d = values[i];
  let n = values[63u - i];
  out[i] = n / d + (n % d) * 3u + i / 7u + i % 7u + (4000000000u + i) / 3u;
}
