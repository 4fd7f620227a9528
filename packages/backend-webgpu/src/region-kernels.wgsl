// Copies and fills of strided regions. Word kernels have one invocation a word. Half kernels have one a word of the
// target too: it gathers the 16-bit values that fall into its word and keeps the rest, so no two invocations write the
// same word.

struct Region {
  items: u32, items_per_row: u32,
  source_base: u32, source_columns: u32, source_stride: u32,
  target_base: u32, target_columns: u32, target_stride: u32,
  pattern: u32,
}
@group(0) @binding(0) var<storage, read> words_from: array<u32>;
@group(0) @binding(1) var<storage, read_write> words_to: array<u32>;
@group(0) @binding(2) var<uniform> region: Region;

fn source_index(element: u32) -> u32 {
  return region.source_base + (element / region.source_columns) * region.source_stride + element % region.source_columns;
}

@compute @workgroup_size(64)
fn copy_words(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * 64u) {
    let row = i / region.items_per_row;
    let column = i % region.items_per_row;
    words_to[region.target_base + row * region.target_stride + column] = words_from[source_index(i)];
  }
}

@compute @workgroup_size(64)
fn fill_words(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * 64u) {
    let row = i / region.items_per_row;
    let column = i % region.items_per_row;
    words_to[region.target_base + row * region.target_stride + column] = region.pattern;
  }
}

@compute @workgroup_size(64)
fn copy_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * 64u) {
    let row = i / region.items_per_row;
    let start = region.target_base + row * region.target_stride;
    let word = start / 2u + i % region.items_per_row;
    var mask = 0u;
    var bits = 0u;
    for (var half = 0u; half < 2u; half++) {
      let column = word * 2u + half - start;
      if (column < region.target_columns) {
        let index = source_index(row * region.target_columns + column);
        let value = (words_from[index / 2u] >> ((index & 1u) * 16u)) & 0xffffu;
        bits |= value << (half * 16u);
        mask |= 0xffffu << (half * 16u);
      }
    }
    if (mask != 0u) {
      words_to[word] = (words_to[word] & ~mask) | bits;
    }
  }
}

@compute @workgroup_size(64)
fn fill_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < region.items; i += groups.x * 64u) {
    let row = i / region.items_per_row;
    let start = region.target_base + row * region.target_stride;
    let word = start / 2u + i % region.items_per_row;
    var mask = 0u;
    for (var half = 0u; half < 2u; half++) {
      if (word * 2u + half - start < region.target_columns) {
        mask |= 0xffffu << (half * 16u);
      }
    }
    if (mask != 0u) {
      words_to[word] = (words_to[word] & ~mask) | (region.pattern & mask);
    }
  }
}
