// run: workgroups=1,1,1
// buffer a: u32[32] random
// buffer s: u32[32] iota(0, 3)
// buffer out: u32[96]
// Only the low five bits of a shift amount count.
@group(0) @binding(0) var<storage, read> a: array<u32, 32>;
@group(0) @binding(1) var<storage, read> s: array<u32, 32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32, 96>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = a[i] << s[i];
  out[32u + i] = u32(i32(a[i]) >> s[i]);
  out[64u + i] = (a[i] << 4u) | (a[i] >> (i % 8u)) | u32(1i << i);
}
