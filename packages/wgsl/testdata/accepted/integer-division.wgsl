// run: workgroups=1,1,1
// buffer values: i32[64] values(0, 1, -1, 5, -5, -2147483648, 2147483647, 2)
// buffer out: i32[64]

@group(0) @binding(0) var<storage, read> values: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let d = values[i];
  let n = values[63u - i];
  out[i] = n / d + (n % d) * 3 + (i32(i) - 32) / (d | 1) + (i32(i) - 32) % 7;
}
