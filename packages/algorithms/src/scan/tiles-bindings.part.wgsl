struct Params {
  input_base: u32,
  input_length: u32,
  prefixes_base: u32,
  prefixes_length: u32,
  output_base: u32,
  exclusive: u32,
}

@group(0) @binding(0) var<storage, read> input: array<Element>;
@group(0) @binding(1) var<storage, read> prefixes: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<Element>;
@group(0) @binding(3) var<uniform> params: Params;
