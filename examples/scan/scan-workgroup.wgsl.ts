// Written by tandem-wgsl from scan-workgroup.wgsl: change that file, not this one.
import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'

const wgsl = "// A workgroup does a block, one element an invocation, by way of workgroup memory: for GPUs.\nconst block_length = 256u;\n\nstruct SumParams { source_base: u32, source_length: u32, sums_base: u32, sums_length: u32 }\nstruct ScanParams {\n  source_base: u32, source_length: u32, offsets_base: u32, offsets_length: u32, result_base: u32, inclusive: u32,\n}\n\n@group(0) @binding(0) var<storage, read> source: array<u32>;\n@group(0) @binding(1) var<storage, read_write> sums: array<u32>;\n@group(0) @binding(2) var<storage, read> offsets: array<u32>;\n@group(0) @binding(3) var<storage, read_write> result: array<u32>;\n@group(0) @binding(4) var<uniform> sum_params: SumParams;\n@group(0) @binding(5) var<uniform> scan_params: ScanParams;\n\nvar<workgroup> shared_sums: array<u32, 256>;\n\n/** The sum of the values of all invocations up to this one (Hillis and Steele, Data parallel algorithms, 1986). */\nfn scan_workgroup(lane: u32, value: u32) -> u32 {\n  shared_sums[lane] = value;\n  for (var step = 1u; step < block_length; step *= 2u) {\n    workgroupBarrier();\n    let other = select(0u, shared_sums[max(lane, step) - step], lane >= step);\n    workgroupBarrier();\n    shared_sums[lane] += other;\n  }\n  return shared_sums[lane];\n}\n\n/** sums[b] = the sum of block b of source. */\n@compute @workgroup_size(256)\nfn sum_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {\n  let block = group.x + group.y * grid.x;\n  let i = block * block_length + lane;\n  var value = 0u;\n  if (i < sum_params.source_length) { value = source[sum_params.source_base + i]; }\n  let sum = scan_workgroup(lane, value);\n  if (lane == block_length - 1u && block < sum_params.sums_length) { sums[sum_params.sums_base + block] = sum; }\n}\n\n/** result[i] = offsets[b] + the sum of block b of source up to element i, inclusive or exclusive. */\n@compute @workgroup_size(256)\nfn scan_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {\n  let block = group.x + group.y * grid.x;\n  let i = block * block_length + lane;\n  let inside = i < scan_params.source_length;\n  var value = 0u;\n  if (inside) { value = source[scan_params.source_base + i]; }\n  let sum = scan_workgroup(lane, value);\n  if (!inside) { return; }\n  let prefix = offsets[scan_params.offsets_base + block] + sum;\n  result[scan_params.result_base + i] = select(prefix - value, prefix, scan_params.inclusive == 1u);\n}\n"

/** What a dispatch of `sum_blocks` takes. */
export type Sum_blocksArguments = {
  /** array<u32>, read */
  readonly source: BufferView<'u32' | 'u8' | 'i8'>
  /** array<u32>, read_write */
  readonly sums: BufferView<'u32' | 'u8' | 'i8'>
  /** u32; filled in where it is left out */
  readonly source_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_length?: number | Parameter
  /** u32; filled in where it is left out */
  readonly sums_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly sums_length?: number | Parameter
}

/** Workgroups of 256 × 1 × 1. */
export const sum_blocks: CompileOptions<Sum_blocksArguments> = {
  label: "scan-workgroup sum_blocks",
  wgsl,
  entryPoint: "sum_blocks",
}

/** What a dispatch of `scan_blocks` takes. */
export type Scan_blocksArguments = {
  /** array<u32>, read */
  readonly source: BufferView<'u32' | 'u8' | 'i8'>
  /** array<u32>, read */
  readonly offsets: BufferView<'u32' | 'u8' | 'i8'>
  /** array<u32>, read_write */
  readonly result: BufferView<'u32' | 'u8' | 'i8'>
  /** u32; filled in where it is left out */
  readonly source_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_length?: number | Parameter
  /** u32; filled in where it is left out */
  readonly offsets_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly offsets_length?: number | Parameter
  /** u32; filled in where it is left out */
  readonly result_base?: number | Parameter
  /** u32 */
  readonly inclusive: number | Parameter
}

/** Workgroups of 256 × 1 × 1. */
export const scan_blocks: CompileOptions<Scan_blocksArguments> = {
  label: "scan-workgroup scan_blocks",
  wgsl,
  entryPoint: "scan_blocks",
}
