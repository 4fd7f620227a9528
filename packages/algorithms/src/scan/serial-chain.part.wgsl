struct Params {
  supers_base: u32,
  supers_length: u32,
  prefixes_base: u32,
  prefixes_length: u32,
}

@group(0) @binding(0) var<storage, read> supers: array<u32>;
@group(0) @binding(1) var<storage, read_write> prefixes: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(1)
fn scan_chain(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
  let super_group = group.y * grid.x + group.x + 1u;
  if (super_group >= params.supers_length) {
    return;
  }
  var sum = neutral;
  for (var i = 0u; i < super_group; i++) {
    sum = combine(sum, supers[params.supers_base + i]);
  }
  let end = min((super_group + 1u) * 1024u, params.prefixes_length);
  for (var tile = super_group * 1024u; tile < end; tile++) {
    let at = params.prefixes_base + tile;
    prefixes[at] = combine(sum, prefixes[at]);
  }
}
