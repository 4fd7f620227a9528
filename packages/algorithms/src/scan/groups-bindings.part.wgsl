struct Params {
  prefixes_base: u32,
  prefixes_length: u32,
  supers_base: u32,
  supers_length: u32,
}

// First the sums of the tiles, then what comes before each.
@group(0) @binding(0) var<storage, read_write> prefixes: array<u32>;
@group(0) @binding(1) var<storage, read_write> supers: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
