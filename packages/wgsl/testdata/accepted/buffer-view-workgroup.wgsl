// run: workgroups=2,1,1 constants=SIZE:512
// buffer input: u32[64] random
// buffer uniforms: u32[16] iota(100, 3)
// buffer out: u32[256]

// Buffers in workgroup and uniform memory, also of a length that depends on an override, seen whole and shorter by functions.
override SIZE: u32 = 64;

struct Tail {
  head: vec4u,
  rest: array<vec2u>,
}

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<uniform> uniforms: buffer<64>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> tile: buffer<SIZE>;
var<workgroup> small: buffer<128>;

fn length_of(p: ptr<workgroup, buffer>) -> u32 { return bufferLength(p) + arrayLength(bufferView<array<u32>>(p, 8)); }
fn length_shorter(p: ptr<workgroup, buffer<64>>) -> u32 { return bufferLength(p) + length_of(p); }
fn at(p: ptr<uniform, buffer>, i: u32) -> u32 { return *bufferView<u32>(p, i * 4); }
fn through(p: ptr<workgroup, Tail>, i: u32) -> u32 { return p.head[i & 3] + p.rest[i].y + arrayLength(&p.rest); }

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3u) {
  let words = bufferView<array<u32>>(&tile, 0);
  out[id.x + 192] = words[i] + *bufferView<u32>(&small, i * 4);
  workgroupBarrier();
  words[i] = input[id.x];
  bufferView<array<u32, 32>>(&small, 0)[i] = input[id.x] >> 3;
  workgroupBarrier();
  let pair = bufferView<vec2u>(&tile, (i * 4) % 120);
  out[id.x] = pair.x + pair.y + through(bufferView<Tail>(&small, 16), i % 12);
  let shared_word = workgroupUniformLoad(bufferView<u32>(&tile, 12));
  out[id.x + 64] = shared_word + length_of(&tile) + length_of(&small) + length_shorter(&small);
  out[id.x + 128] = at(&uniforms, i % 16) + bufferView<vec4u>(&uniforms, 16)[i % 4] + arrayLength(bufferView<array<u32>>(&uniforms, 8));
}
