struct Params {
  input_base: u32,
  input_length: u32,
  sums_base: u32,
  sums_length: u32,
}

@group(0) @binding(0) var<storage, read> input: array<Element>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
