enable f16;
enable chromium_experimental_subgroup_matrix;

// The parts of A and B, the low ones `a_low` and `b_low` elements after the high ones. `k` is a multiple of 64; `first_window` and `window` are
// multiples of 32, `window` of at least 64. `depth` is the least d with 2^d ≥ the k of the product.
struct Params {
  // Filled in by core, in array elements of the binding.
  a_base: u32,
  a_stride: u32,
  b_base: u32,
  b_stride: u32,
  c_base: u32,
  c_stride: u32,
  m: u32,
  n: u32,
  k: u32,
  first_window: u32,
  window: u32,
  a_low: u32,
  b_low: u32,
  depth: i32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> row_extremes: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> column_extremes: array<vec2<u32>>;
// For each tile the number of elements that are to be made in f32; begins at 0.
@group(0) @binding(6) var<storage, read_write> flags: array<atomic<u32>>;
