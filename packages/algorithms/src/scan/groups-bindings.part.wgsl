struct Params {
  sums_base: u32,
  sums_length: u32,
  prefixes_base: u32,
  supers_base: u32,
  supers_length: u32,
}

@group(0) @binding(0) var<storage, read> sums: array<u32>;
@group(0) @binding(1) var<storage, read_write> prefixes: array<u32>;
@group(0) @binding(2) var<storage, read_write> supers: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;
