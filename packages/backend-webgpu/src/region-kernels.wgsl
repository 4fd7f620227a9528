// Copies and fills of strided regions. Word kernels have one invocation a word. Those of units, which are bytes or halves of
// words, have one a word of the target too: it gathers the units that fall into its word and keeps the rest, so no two
// invocations write the same word. Integer division is slow on software adapters, so rows and columns come from the grid's two dimensions.

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

// Bits of a unit of the kernels below.
override unit_bits: u32 = 16;
override units_per_word: u32 = 32u / unit_bits;
override unit_mask: u32 = (1u << unit_bits) - 1u;

// Rows of the target without gaps that share words are one row here, of several rows of the source.
fn source_unit(row: u32, column: u32) -> u32 {
  var index = region.source_base + row * region.source_stride + column;
  if (region.source_columns != region.target_columns) {
    index = region.source_base + (column / region.source_columns) * region.source_stride + column % region.source_columns;
  }
  return (words_from[index / units_per_word] >> ((index % units_per_word) * unit_bits)) & unit_mask;
}

@compute @workgroup_size(width, height)
fn copy_units(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var row = id.y; row < region.rows; row += groups.y * height) {
    let start = region.target_base + row * region.target_stride;
    for (var item = id.x; item < region.items_per_row; item += groups.x * width) {
      let word = start / units_per_word + item;
      // The row's columns that fall into the word's units; before the row's start they wrap and are too large.
      let first = word * units_per_word - start;
      var mask = 0u;
      var bits = 0u;
      for (var unit = 0u; unit < units_per_word; unit++) {
        if (first + unit < region.target_columns) {
          mask |= unit_mask << (unit * unit_bits);
          bits |= source_unit(row, first + unit) << (unit * unit_bits);
        }
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
fn fill_units(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var row = id.y; row < region.rows; row += groups.y * height) {
    let start = region.target_base + row * region.target_stride;
    for (var item = id.x; item < region.items_per_row; item += groups.x * width) {
      let word = start / units_per_word + item;
      let first = word * units_per_word - start;
      var mask = 0u;
      for (var unit = 0u; unit < units_per_word; unit++) {
        mask |= select(0u, unit_mask << (unit * unit_bits), first + unit < region.target_columns);
      }
      if (mask == 0xffffffffu) {
        words_to[word] = region.pattern;
      } else if (mask != 0u) {
        words_to[word] = (words_to[word] & ~mask) | (region.pattern & mask);
      }
    }
  }
}
