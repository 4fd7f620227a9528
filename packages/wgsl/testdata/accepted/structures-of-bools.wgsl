// run: workgroups=1,1,1
// buffer data: u32[128] random(0, 4294967295)
// buffer out: u32[64]

// WGSL aligns a vec3<bool> to 16 bytes and C++ to one: nvcc joined two of them in an element chosen at run time, and read the
// second from the time before.
struct Flags {
  two: vec2<bool>,
  three: array<bool, 3>,
  pairs: array<vec2<bool>, 2>,
  left: vec3<bool>,
  right: vec3<bool>,
}
@group(0) @binding(0) var<storage, read> data: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> out: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  let f = unpack4xU8(data[i + 64]) < vec4u(140);
  var flags: array<Flags, 4>;
  flags[data[i] % 4] = Flags(
    f.yz,
    array(f.w, f.x, f.y),
    array(f.zw, f.xy),
    vec3(f.z, false, f.x),
    vec3(f.y, f.z, f.w),
  );
  var h = 1u;
  for (var q = 0u; q < 4; q++) {
    let right = flags[q].right;
    h = h * 3 + u32(right.x) * 4096 + u32(right.y) * 8192 + u32(right.z) * 16384;
  }
  out[i] = h;
}
