// Copies and fills of strided regions. Word kernels have one invocation a word. Half kernels have one a word of the
// target too: it gathers the 16-bit values that fall into its word and keeps the rest, so no two invocations write the
// same word. Integer division is slow on software adapters, so rows and columns come from the grid's two dimensions.

struct Region {
  rows: u32, items_per_row: u32,
  source_base: u32, source_columns: u32, source_stride: u32,
  target_base: u32, target_columns: u32, target_stride: u32,
  pattern: u32,
}
@group(0) @binding(0) var<storage, read> words_from: array<u32>;
@group(0) @binding(1) var<storage, read_write> words_to: array<u32>;
@group(0) @binding(2) var<uniform> region: Region;

// Workgroups are 64 invocations: wide for long rows, high for short ones.
override width: u32 = 64;
override height: u32 = 1;

@compute @workgroup_size(width, height)
fn copy_words(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var row = id.y; row < region.rows; row += groups.y * height) {
    let source_start = region.source_base + row * region.source_stride;
    let target_start = region.target_base + row * region.target_stride;
    for (var item = id.x; item < region.items_per_row; item += groups.x * width) {
      words_to[target_start + item] = words_from[source_start + item];
    }
  }
}

@compute @workgroup_size(width, height)
fn fill_words(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var row = id.y; row < region.rows; row += groups.y * height) {
    let target_start = region.target_base + row * region.target_stride;
    for (var item = id.x; item < region.items_per_row; item += groups.x * width) {
      words_to[target_start + item] = region.pattern;
    }
  }
}

// Rows of the target without gaps that share words are one row here, of several rows of the source.
fn source_half(row: u32, column: u32) -> u32 {
  var index = region.source_base + row * region.source_stride + column;
  if (region.source_columns != region.target_columns) {
    index = region.source_base + (column / region.source_columns) * region.source_stride + column % region.source_columns;
  }
  return (words_from[index / 2u] >> ((index & 1u) * 16u)) & 0xffffu;
}

@compute @workgroup_size(width, height)
fn copy_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var row = id.y; row < region.rows; row += groups.y * height) {
    let start = region.target_base + row * region.target_stride;
    for (var item = id.x; item < region.items_per_row; item += groups.x * width) {
      let word = start / 2u + item;
      // The row's columns that fall into the word's two halves; before the row's start they wrap and are too large.
      let low = word * 2u - start;
      let high = low + 1u;
      var mask = 0u;
      var bits = 0u;
      if (low < region.target_columns) {
        mask = 0xffffu;
        bits = source_half(row, low);
      }
      if (high < region.target_columns) {
        mask |= 0xffff0000u;
        bits |= source_half(row, high) << 16u;
      }
      if (mask == 0xffffffffu) {
        words_to[word] = bits;
      } else if (mask != 0u) {
        words_to[word] = (words_to[word] & ~mask) | bits;
      }
    }
  }
}

@compute @workgroup_size(width, height)
fn fill_halves(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var row = id.y; row < region.rows; row += groups.y * height) {
    let start = region.target_base + row * region.target_stride;
    for (var item = id.x; item < region.items_per_row; item += groups.x * width) {
      let word = start / 2u + item;
      let low = word * 2u - start;
      let mask = select(0u, 0xffffu, low < region.target_columns)
        | select(0u, 0xffff0000u, low + 1u < region.target_columns);
      if (mask == 0xffffffffu) {
        words_to[word] = region.pattern;
      } else if (mask != 0u) {
        words_to[word] = (words_to[word] & ~mask) | (region.pattern & mask);
      }
    }
  }
}
