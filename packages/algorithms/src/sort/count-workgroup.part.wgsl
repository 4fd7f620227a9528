// counts[digit][range]: a workgroup counts the digits of a range, in four copies.

@group(0) @binding(0) var<storage, read> keys: array<Key>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> bins: array<atomic<u32>, 1024>;

fn add(row: u32, bits: Key) {
  atomicAdd(&bins[row + digit_of(encoded(bitcast<u32>(bits)))], 1u);
}

@compute @workgroup_size(256)
fn count(@builtin(local_invocation_index) place: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let row = place / 64u * 256u;
  let start = group.x * params.range;
  let end = min(start + params.range, params.keys_length);
  var at = start + place;
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
    add(row, a);
    add(row, b);
    add(row, c);
    add(row, d);
    add(row, e);
    add(row, f);
    add(row, g);
    add(row, h);
  }
  for (; at < end; at += 256u) {
    add(row, keys[params.keys_base + at]);
  }
  workgroupBarrier();
  if (place < DIGITS) {
    let sum = atomicLoad(&bins[place]) + atomicLoad(&bins[256u + place]);
    let more = atomicLoad(&bins[512u + place]) + atomicLoad(&bins[768u + place]);
    counts[params.counts_base + place * params.ranges + group.x] = sum + more;
  }
}
