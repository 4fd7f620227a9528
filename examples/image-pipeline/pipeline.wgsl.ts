// Written by tandem-wgsl from pipeline.wgsl: change that file, not this one.
import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'

const wgsl = "// Elements are bytes: red, green, blue and alpha of each pixel. A kernel binds them as words, so a word is a pixel. `stride` and `base` count\n// words, `columns` counts elements.\nstruct Params {\n  source_base: u32, source_stride: u32, source_rows: u32, source_columns: u32,\n  result_base: u32, result_stride: u32, result_rows: u32,\n  /** Rows of the source above the first row of the result: its halo. */\n  halo: u32,\n}\n\n@group(0) @binding(0) var<storage, read> source: array<u32>;\n@group(0) @binding(1) var<storage, read_write> result: array<u32>;\n@group(0) @binding(2) var<uniform> params: Params;\n\nfn width() -> u32 { return params.source_columns / 4u; }\n\nfn pixel(row: i32, column: i32) -> vec4f {\n  let r = u32(clamp(row, 0, i32(params.source_rows) - 1));\n  let c = u32(clamp(column, 0, i32(width()) - 1));\n  return unpack4x8unorm(source[params.source_base + r * params.source_stride + c]);\n}\n\nfn store(id: vec3u, color: vec3f) {\n  result[params.result_base + id.y * params.result_stride + id.x] = pack4x8unorm(vec4f(color, 1));\n}\n\n/** The mean of nine pixels. */\n@compute @workgroup_size(8, 8)\nfn blur(@builtin(global_invocation_id) id: vec3u) {\n  if (id.x >= width() || id.y >= params.result_rows) { return; }\n  var sum = vec3f();\n  for (var dy = -1; dy <= 1; dy++) {\n    for (var dx = -1; dx <= 1; dx++) { sum += pixel(i32(id.y + params.halo) + dy, i32(id.x) + dx).rgb; }\n  }\n  store(id, sum / 9);\n}\n\n/** The length of the gradient of the brightness (Sobel). */\n@compute @workgroup_size(8, 8)\nfn edges(@builtin(global_invocation_id) id: vec3u) {\n  if (id.x >= width() || id.y >= params.result_rows) { return; }\n  var gradient = vec2f();\n  for (var dy = -1; dy <= 1; dy++) {\n    for (var dx = -1; dx <= 1; dx++) {\n      let light = dot(pixel(i32(id.y + params.halo) + dy, i32(id.x) + dx).rgb, vec3f(0.2126, 0.7152, 0.0722));\n      gradient += light * vec2f(f32(dx * (2 - abs(dy))), f32(dy * (2 - abs(dx))));\n    }\n  }\n  store(id, vec3f(min(1, length(gradient))));\n}\n"

/** What a dispatch of `blur` takes. */
export type BlurArguments = {
  /** array<u32>, read */
  readonly source: BufferView<'u32' | 'u8' | 'i8'>
  /** array<u32>, read_write */
  readonly result: BufferView<'u32' | 'u8' | 'i8'>
  /** u32; filled in where it is left out */
  readonly source_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_stride?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_rows?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_columns?: number | Parameter
  /** u32; filled in where it is left out */
  readonly result_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly result_stride?: number | Parameter
  /** u32; filled in where it is left out */
  readonly result_rows?: number | Parameter
  /** u32 */
  readonly halo: number | Parameter
}

/** Workgroups of 8 × 8 × 1. */
export const blur: CompileOptions<BlurArguments> = {
  label: "pipeline blur",
  wgsl,
  entryPoint: "blur",
}

/** What a dispatch of `edges` takes. */
export type EdgesArguments = {
  /** array<u32>, read */
  readonly source: BufferView<'u32' | 'u8' | 'i8'>
  /** array<u32>, read_write */
  readonly result: BufferView<'u32' | 'u8' | 'i8'>
  /** u32; filled in where it is left out */
  readonly source_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_stride?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_rows?: number | Parameter
  /** u32; filled in where it is left out */
  readonly source_columns?: number | Parameter
  /** u32; filled in where it is left out */
  readonly result_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly result_stride?: number | Parameter
  /** u32; filled in where it is left out */
  readonly result_rows?: number | Parameter
  /** u32 */
  readonly halo: number | Parameter
}

/** Workgroups of 8 × 8 × 1. */
export const edges: CompileOptions<EdgesArguments> = {
  label: "pipeline edges",
  wgsl,
  entryPoint: "edges",
}
