// A workgroup adds the sums of all super-groups before one, one after another, and what they give to each prefix of that super-group. Each
// invocation computes that sum by itself, without barriers. The first super-group has none before it and no workgroup.

struct Params {
  supers_base: u32,
  supers_length: u32,
  prefixes_base: u32,
  prefixes_length: u32,
}

@group(0) @binding(0) var<storage, read> supers: array<u32>;
@group(0) @binding(1) var<storage, read_write> prefixes: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn scan_chain(
  @builtin(local_invocation_index) place: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
) {
  let super_group = group.y * grid.x + group.x + 1u;
  if (super_group >= params.supers_length) {
    return;
  }
  var sum = neutral;
  for (var i = 0u; i < super_group; i++) {
    sum = combine(sum, supers[params.supers_base + i]);
  }
  for (var row = 0u; row < 4u; row++) {
    let tile = super_group * 1024u + row * 256u + place;
    if (tile < params.prefixes_length) {
      let at = params.prefixes_base + tile;
      prefixes[at] = combine(sum, prefixes[at]);
    }
  }
}
