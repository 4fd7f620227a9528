// run: workgroups=1,1,1
// buffer values: u32[64] iota(0, 1)
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let s = values[i];
  let x = 0x80f0f00fu + i;
  out[i] = (x << s) ^ (x >> s) ^ u32(i32(x) >> s) ^ u32(i32(x) << s) ^ (x << 3u) ^ u32(i32(x) >> 31u);
}
