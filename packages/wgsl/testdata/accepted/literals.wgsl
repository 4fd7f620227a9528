// run: workgroups=1,1,1
// buffer out: u32[64]

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  out[i] = 0x1F + 0X0au + 1u + 0u + 4294967295u % 7u + u32(1e2) + u32(0x1p4) + u32(1.5e1f) + u32(.5 * 8.) + u32(0x.8p3) + u32(2f) + i * 0u;
}
