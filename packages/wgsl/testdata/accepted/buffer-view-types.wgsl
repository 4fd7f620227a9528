// run: workgroups=2,1,1
// buffer input: u32[128] random
// buffer offsets: u32[8] values(0, 4, 17, 36, 52, 71, 96, 130)
// buffer out: u32[256]

// Views of different types and offsets in one buffer; a dynamic offset is rounded down to the alignment of the type.
struct Row {
  a: u32,
  @align(16) b: vec2u,
  c: array<u32, 3>,
}

@group(0) @binding(0) var<storage, read> input: buffer;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: buffer<1024>;

fn sum(p: ptr<storage, vec4u>, q: ptr<storage, array<u32>>) -> u32 {
  return dot(*p, vec4u(1, 2, 3, 4)) + q[2] + arrayLength(q);
}

fn total(p: ptr<storage, Row>) -> u32 {
  let row = *p;
  return row.a ^ row.b.y ^ p.c[1] ^ row.c[2];
}

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let o = offsets[i];
  let words = bufferView<array<u32>>(&out, i * 128);
  words[0] = *bufferView<u32>(&input, o);
  words[1] = u32(*bufferView<i32>(&input, i32(o) + 4));
  words[2] = bufferView<vec2u>(&input, o).y;
  words[3] = bufferView<vec3u>(&input, o)[i % 3];
  words[4] = sum(bufferView<vec4u>(&input, o), bufferView<array<u32>>(&input, o + 8));
  words[5] = total(bufferView<Row>(&input, o));
  words[6] = bufferView<array<vec3u, 2>>(&input, o)[1].z;
  words[7] = bufferLength(&input) + bufferLength(&out);
  words[8] = arrayLength(bufferView<array<vec3u>>(&input, o));
  words[9] = arrayLength(bufferArrayView<array<vec2u>>(&input, o, 32 + 8 * i));
  let few = bufferArrayView<array<u32>>(&input, o, 16);
  words[10] = few[3] + few[i % 4];
  bufferView<vec4u>(&out, i * 128 + 48).zx = vec2u(i, 7);
  bufferView<vec4u>(&out, i * 128 + 48).w += 5u;
  let v = bufferView<array<vec3u, 2>>(&out, i * 128 + 64);
  *v = array<vec3u, 2>(vec3u(1, 2, 3), vec3u(i, 5, 6));
  v[1].y++;
  (*bufferView<mat2x2f>(&out, i * 128 + 96))[1] = vec2f(f32(i), 0.5);
  bufferView<Row>(&out, 0).c[0] |= 0u;
}
