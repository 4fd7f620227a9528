// Written by tandem-wgsl from clip.wgsl: change that file, not this one.
import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'

const wgsl = "struct Params { x_base: u32, x_length: u32, low: f32, high: f32 }\n\n@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n@group(0) @binding(1) var<uniform> params: Params;\n\n/** Moves every element into [low, high]. */\n@compute @workgroup_size(64)\nfn clip(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) lane: u32) {\n  let i = (group.x + group.y * grid.x) * 64u + lane;\n  if (i < params.x_length) { x[params.x_base + i] = clamp(x[params.x_base + i], params.low, params.high); }\n}\n"

/** What a dispatch of `clip` takes. */
export type ClipArguments = {
  /** array<f32>, read_write */
  readonly x: BufferView<'f32'>
  /** u32; filled in where it is left out */
  readonly x_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly x_length?: number | Parameter
  /** f32 */
  readonly low: number | Parameter
  /** f32 */
  readonly high: number | Parameter
}

/** Workgroups of 64 × 1 × 1. */
export const clip: CompileOptions<ClipArguments> = {
  label: "clip",
  wgsl,
  entryPoint: "clip",
}

export default clip
