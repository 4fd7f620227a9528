// Written by tandem-wgsl from histogram.wgsl: change that file, not this one.
import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'

const wgsl = "struct Params { values_length: u32 }\n\n/** Values from 0 to 255. */\n@group(0) @binding(0) var<storage, read> values: array<u32>;\n@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 256>;\n@group(0) @binding(2) var<uniform> params: Params;\n\n@compute @workgroup_size(64)\nfn histogram(@builtin(global_invocation_id) id: vec3u) {\n  if (id.x < params.values_length) { atomicAdd(&counts[values[id.x] & 255u], 1u); }\n}\n"

/** What a dispatch of `histogram` takes. */
export type HistogramArguments = {
  /** array<u32>, read */
  readonly values: BufferView<'u32' | 'u8' | 'i8'>
  /** array<atomic<u32>, 256>, read_write */
  readonly counts: BufferView<'u32' | 'u8' | 'i8'>
  /** u32; filled in where it is left out */
  readonly values_length?: number | Parameter
}

/** Workgroups of 64 × 1 × 1. */
export const histogram: CompileOptions<HistogramArguments> = {
  label: "histogram",
  wgsl,
  entryPoint: "histogram",
}

export default histogram
