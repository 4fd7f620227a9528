// Written by tandem-wgsl from bodies.wgsl: change that file, not this one.
import type { BufferView, CompileOptions, Parameter } from '@tandem-gpu/core'

const wgsl = "struct Params {\n  own_base: u32, own_length: u32, all_base: u32, all_length: u32, moved_base: u32, velocity_base: u32,\n  step: f32,\n}\n\n/** Positions in x, y and z, the mass in w. */\n@group(0) @binding(0) var<storage, read> own: array<vec4f>;\n@group(0) @binding(1) var<storage, read> all: array<vec4f>;\n@group(0) @binding(2) var<storage, read_write> moved: array<vec4f>;\n@group(0) @binding(3) var<storage, read_write> velocity: array<vec4f>;\n@group(0) @binding(4) var<uniform> params: Params;\n\n/** One step of gravity for this device's bodies, softened so that close bodies do not fly apart. */\n@compute @workgroup_size(64)\nfn advance(@builtin(global_invocation_id) id: vec3u) {\n  if (id.x >= params.own_length / 4u) { return; }\n  let body = own[params.own_base + id.x];\n  var pull = vec3f();\n  for (var i = 0u; i < params.all_length / 4u; i++) {\n    let other = all[params.all_base + i];\n    let apart = other.xyz - body.xyz;\n    let distance_squared = dot(apart, apart) + 0.01;\n    pull += other.w * apart / (distance_squared * sqrt(distance_squared));\n  }\n  let speed = velocity[params.velocity_base + id.x].xyz + params.step * pull;\n  velocity[params.velocity_base + id.x] = vec4f(speed, 0);\n  moved[params.moved_base + id.x] = vec4f(body.xyz + params.step * speed, body.w);\n}\n"

/** What a dispatch of `advance` takes. */
export type AdvanceArguments = {
  /** array<vec4f>, read */
  readonly own: BufferView<'f32'>
  /** array<vec4f>, read */
  readonly all: BufferView<'f32'>
  /** array<vec4f>, read_write */
  readonly moved: BufferView<'f32'>
  /** array<vec4f>, read_write */
  readonly velocity: BufferView<'f32'>
  /** u32; filled in where it is left out */
  readonly own_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly own_length?: number | Parameter
  /** u32; filled in where it is left out */
  readonly all_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly all_length?: number | Parameter
  /** u32; filled in where it is left out */
  readonly moved_base?: number | Parameter
  /** u32; filled in where it is left out */
  readonly velocity_base?: number | Parameter
  /** f32 */
  readonly step: number | Parameter
}

/** Workgroups of 64 × 1 × 1. */
export const advance: CompileOptions<AdvanceArguments> = {
  label: "bodies advance",
  wgsl,
  entryPoint: "advance",
}

export default advance
