// Written by tandem-wgsl from mandelbrot.wgsl: change that file, not this one.
import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'

const wgsl = "struct Params { counts_columns: u32, counts_rows: u32, center: vec2f, width: f32 }\n\n@group(0) @binding(0) var<storage, read_write> counts: array<u32>;\n@group(0) @binding(1) var<uniform> params: Params;\n\n/** How many steps z = z² + c stays within 2, up to 255, for each point of a rectangle. */\n@compute @workgroup_size(8, 8)\nfn mandelbrot(@builtin(global_invocation_id) id: vec3u) {\n  if (id.x >= params.counts_columns || id.y >= params.counts_rows) { return; }\n  let size = vec2f(params.width, params.width * f32(params.counts_rows) / f32(params.counts_columns));\n  let c = params.center + size * ((vec2f(id.xy) + 0.5) / vec2f(f32(params.counts_columns), f32(params.counts_rows)) - 0.5);\n  var z = vec2f();\n  var count = 0u;\n  while (count < 255u && dot(z, z) <= 4) {\n    z = vec2f(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;\n    count++;\n  }\n  counts[id.y * params.counts_columns + id.x] = count;\n}\n"

/** What a dispatch of `mandelbrot` takes. */
export type MandelbrotArguments = {
  /** array<u32>, read_write */
  readonly counts: BufferView<'u32' | 'u8' | 'i8'>
  /** u32; filled in where it is left out */
  readonly counts_columns?: number | Parameter
  /** u32; filled in where it is left out */
  readonly counts_rows?: number | Parameter
  /** vec2f */
  readonly center: readonly [number, number] | Float32Array | Parameter
  /** f32 */
  readonly width: number | Parameter
}

/** Workgroups of 8 × 8 × 1. */
export const mandelbrot: CompileOptions<MandelbrotArguments> = {
  label: "mandelbrot",
  wgsl,
  entryPoint: "mandelbrot",
}

export default mandelbrot
