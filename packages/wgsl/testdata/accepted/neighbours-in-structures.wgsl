// run: workgroups=1,1,1
// buffer data: u32[128] random(0, 4294967295)
// buffer records: u32[1024]
// buffer out: u32[256]
// Members of structures of 12 bytes, of which a joined access of 8 or 16 bytes reaches two neighbours, are stored in elements
// chosen at run time, between reads of all: nvcc took the stored member for another place than the joined ones.
struct Three { a: u32, b: u32, c: u32 }
struct Pairs { first: array<Three, 3>, second: array<vec2<u32>, 3> }
struct Nested { p: Three, q: Three, r: Three, s: Three, last: vec4<u32> }

@group(0) @binding(0) var<storage, read> data: array<u32, 128>;
@group(0) @binding(1) var<storage, read_write> records: array<Nested, 16>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> shared_pairs: array<array<Pairs, 2>, 16>;

fn pairs(x: u32) -> Pairs {
  return Pairs(
    array<Three, 3>(Three(x, x * 3u, x * 5u), Three(x * 7u, x * 9u, x * 11u), Three(x * 13u, x * 15u, x * 17u)),
    array<vec2<u32>, 3>(vec2(x, x + 1u), vec2(x + 2u, x + 3u), vec2(x + 4u, x + 5u)),
  );
}

fn hashThree(h: u32, t: Three) -> u32 {
  return ((h * 31u + t.a) * 31u + t.b) * 31u + t.c;
}

fn hashPairs(p: Pairs) -> u32 {
  let h = hashThree(hashThree(hashThree(7u, p.first[0]), p.first[1]), p.first[2]);
  return (h * 31u + p.second[0].x) * 31u + p.second[2].y;
}

fn hashNested(n: Nested) -> u32 {
  return hashThree(hashThree(hashThree(hashThree(n.last.y, n.p), n.q), n.r), n.s);
}

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
  let x = data[i];
  let y = data[i + 16u];

  var local_pairs: array<Pairs, 2>;
  local_pairs[0] = pairs(x);
  local_pairs[1] = pairs(y);
  local_pairs[x & 1u].first[1].a = data[64];
  out[i] = hashPairs(local_pairs[0]) * 131u + hashPairs(local_pairs[1]);
  local_pairs[1].first[x % 3u].a = data[65];
  let copied = local_pairs;
  out[i + 16u] = hashPairs(local_pairs[0]) * 131u + hashPairs(local_pairs[1]);
  out[i + 32u] = copied[y & 1u].first[1].a + copied[(y >> 1u) & 1u].first[y % 3u].b;

  shared_pairs[i][0] = pairs(x);
  shared_pairs[i][1] = pairs(y);
  shared_pairs[i][x & 1u].first[1].a = data[66];
  out[i + 48u] = hashPairs(shared_pairs[i][0]) * 131u + hashPairs(shared_pairs[i][1]);

  records[i].p = Three(x, x * 3u, x * 5u);
  records[i].q = Three(y, y * 3u, y * 5u);
  records[i].r = Three(x * 7u, x * 9u, x * 11u);
  records[i].s = Three(y * 7u, y * 9u, y * 11u);
  let before = hashNested(records[i]);
  records[i].r.a = x + 99u;
  out[i + 64u] = before * 3u + hashNested(records[i]);
  for (var k = 0u; k < 3u; k++) {
    local_pairs[k & 1u].first[(x + k) % 3u] = Three(k, x, y);
    out[80u + k * 16u + i] = hashPairs(local_pairs[0]) * 131u + hashPairs(local_pairs[1]);
  }
}
