// Counts the next digit of the keys that begin as each splitter does, in a row for each; where no digit is known yet, in one row for all.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read> splitters: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> rows: array<atomic<u32>, 3840>;
// The first digits of the splitters, read once, since another device may own them. 0xffffffff where there is none: no key begins so.
var<workgroup> starts: array<u32, 16>;
var<private> first_starts: vec4<u32>;

fn add(bits: Key, place: u32, count: u32) {
  let key = encoded(bitcast<u32>(bits));
  let digit = (key >> params.shift) & 255u;
  if (params.shift == 24u) {
    // Four copies, so that fewer invocations meet.
    atomicAdd(&rows[place / 64u * 256u + digit], 1u);
    return;
  }
  let start = key >> ((params.shift + 8u) & 31u);
  let same = first_starts == vec4<u32>(start);
  if (any(same)) {
    for (var k = 0u; k < 4u; k++) {
      if (same[k]) {
        atomicAdd(&rows[k * 256u + digit], 1u);
      }
    }
  }
  for (var k = 4u; k < count; k++) {
    if (starts[k] == start) {
      atomicAdd(&rows[k * 256u + digit], 1u);
    }
  }
}

@compute @workgroup_size(256)
fn select_count(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let count = params.counts_length / 256u;
  if (place < 16u) {
    starts[place] = select(0xffffffffu, splitters[params.splitters_base + min(place, count - 1u)], place < count);
  }
  workgroupBarrier();
  first_starts = vec4<u32>(starts[0], starts[1], starts[2], starts[3]);
  let end = min((group.x + 1u) * params.range, params.keys_length);
  var at = group.x * params.range + place;
  for (; at + 1792u < end; at += 2048u) {
    let first = params.keys_base + at;
    let a = keys[first];
    let b = keys[first + 256u];
    let c = keys[first + 512u];
    let d = keys[first + 768u];
    let e = keys[first + 1024u];
    let f = keys[first + 1280u];
    let g = keys[first + 1536u];
    let h = keys[first + 1792u];
    add(a, place, count);
    add(b, place, count);
    add(c, place, count);
    add(d, place, count);
    add(e, place, count);
    add(f, place, count);
    add(g, place, count);
    add(h, place, count);
  }
  for (; at < end; at += 256u) {
    add(keys[params.keys_base + at], place, count);
  }
  workgroupBarrier();
  let first_pass = params.shift == 24u;
  for (var k = place; k < select(count, 4u, first_pass) * 256u; k += 256u) {
    let sum = atomicLoad(&rows[k]);
    if (sum > 0u) {
      atomicAdd(&counts[params.counts_base + select(k, k % 256u, first_pass)], sum);
    }
  }
}
