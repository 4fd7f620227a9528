// C = A · B, row-major. The host joins parts to a kernel: element type, this one, access to A, access to B and C, body.
struct Params {
  // Filled in by core, in array elements of the binding.
  a_base: u32,
  a_stride: u32,
  b_base: u32,
  b_stride: u32,
  c_base: u32,
  c_stride: u32,
  // C is m × n; k is the inner length. None is 0.
  m: u32,
  n: u32,
  k: u32,
  // Inner length of one part of a split K; k when it is not split. Part z writes rows z·m to (z + 1)·m of `c`.
  k_chunk: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
