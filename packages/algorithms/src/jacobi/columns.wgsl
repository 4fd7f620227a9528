// Moves columns of cells between a block and contiguous memory, both ways: element i of the source goes to element i of the destination.
// `both` moves two columns of one block at a time (packing), `one` a single one (packing at the border of the grid, unpacking).
struct Params {
  source_base: u32,
  source_stride: u32,
  destination_base: u32,
  destination_stride: u32,
  source2_base: u32,
  source2_stride: u32,
  destination2_base: u32,
  destination2_stride: u32,
  cells: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> destination: array<f32>;
@group(0) @binding(3) var<storage, read> source2: array<f32>;
@group(0) @binding(4) var<storage, read_write> destination2: array<f32>;

@compute @workgroup_size(64)
fn one(@builtin(global_invocation_id) position: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  for (var cell = position.x; cell < params.cells; cell += workgroups.x * 64u) {
    destination[params.destination_base + cell * params.destination_stride] = source[params.source_base + cell * params.source_stride];
  }
}

@compute @workgroup_size(64)
fn both(@builtin(global_invocation_id) position: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  for (var cell = position.x; cell < params.cells; cell += workgroups.x * 64u) {
    destination[params.destination_base + cell * params.destination_stride] = source[params.source_base + cell * params.source_stride];
    destination2[params.destination2_base + cell * params.destination2_stride] =
      source2[params.source2_base + cell * params.source2_stride];
  }
}
