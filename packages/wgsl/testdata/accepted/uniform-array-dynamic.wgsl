// run: workgroups=1,1,1
// buffer table: u32[32] iota(5, 3)
// buffer out: u32[32]

@group(0) @binding(0) var<uniform> table: array<vec4u, 8>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = table[i / 4u][i % 4u];
}
