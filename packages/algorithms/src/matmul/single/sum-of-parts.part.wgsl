// C from the parts of a split K: adds the parts of each element in ascending order of k.
struct Params {
  partial_base: u32,
  partial_stride: u32,
  c_base: u32,
  c_stride: u32,
  m: u32,
  n: u32,
  parts: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partial: array<Element>;
@group(0) @binding(2) var<storage, read_write> c: array<Element>;

@compute @workgroup_size(64, 4)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  let blocks_n = (params.n + 63u) / 64u;
  let linear = workgroup.y * workgroups.x + workgroup.x;
  let row = (linear / blocks_n) * 4u + local.y;
  let column = (linear % blocks_n) * 64u + local.x;
  if (row >= params.m || column >= params.n) {
    return;
  }
  var sum = Element();
  for (var part = 0u; part < params.parts; part++) {
    sum += partial[params.partial_base + (part * params.m + row) * params.partial_stride + column];
  }
  c[params.c_base + row * params.c_stride + column] = sum;
}
