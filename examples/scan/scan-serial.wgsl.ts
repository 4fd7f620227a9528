// Written by tandem-wgsl from scan-serial.wgsl: change that file, not this one.
import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'

const wgsl = "// One invocation does a whole block, without barriers: for adapters that run on the CPU, where barriers are slow.\nconst block_length = 256u;\n\nstruct SumParams { source_base: u32, source_length: u32, sums_base: u32, sums_length: u32 }\nstruct ScanParams {\n  source_base: u32, source_length: u32, offsets_base: u32, offsets_length: u32, result_base: u32, inclusive: u32,\n}\n\n@group(0) @binding(0) var<storage, read> source: array<u32>;\n@group(0) @binding(1) var<storage, read_write> sums: array<u32>;\n@group(0) @binding(2) var<storage, read> offsets: array<u32>;\n@group(0) @binding(3) var<storage, read_write> result: array<u32>;\n@group(0) @binding(4) var<uniform> sum_params: SumParams;\n@group(0) @binding(5) var<uniform> scan_params: ScanParams;\n\n/** sums[b] = the sum of block b of source. */\n@compute @workgroup_size(64)\nfn sum_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {\n  let block = (group.x + group.y * grid.x) * 64u + lane;\n  if (block >= sum_params.sums_length) { return; }\n  let end = min((block + 1u) * block_length, sum_params.source_length);\n  var sum = 0u;\n  for (var i = block * block_length; i < end; i++) { sum += source[sum_params.source_base + i]; }\n  sums[sum_params.sums_base + block] = sum;\n}\n\n/** result[i] = offsets[b] + the sum of block b of source up to element i, inclusive or exclusive. */\n@compute @workgroup_size(64)\nfn scan_blocks(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {\n  let block = (group.x + group.y * grid.x) * 64u + lane;\n  if (block >= scan_params.offsets_length) { return; }\n  let end = min((block + 1u) * block_length, scan_params.source_length);\n  var sum = offsets[scan_params.offsets_base + block];\n  for (var i = block * block_length; i < end; i++) {\n    let before = sum;\n    sum += source[scan_params.source_base + i];\n    result[scan_params.result_base + i] = select(before, sum, scan_params.inclusive == 1u);\n  }\n}\n"

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

/** Workgroups of 64 × 1 × 1. */
export const sum_blocks: CompileOptions<Sum_blocksArguments> = {
  label: "scan-serial sum_blocks",
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

/** Workgroups of 64 × 1 × 1. */
export const scan_blocks: CompileOptions<Scan_blocksArguments> = {
  label: "scan-serial scan_blocks",
  wgsl,
  entryPoint: "scan_blocks",
}
