import type { Type } from '../ir.ts'
import { arrayType, boolType, f32Type, u32Type, vectorType } from '../types.ts'
import type { Stage } from './stages.ts'

/** Whether a value enters or leaves a stage. */
export type Direction = 'input' | 'output'

const vec3u = vectorType(3, 'u32')
const vec4f = vectorType(4, 'f32')
const distances = [1, 2, 3, 4, 5, 6, 7, 8].map((length) => arrayType(f32Type, length))

/** The properties of a built-in value. */
interface BuiltinValueRule {
  /** The types that it may have. */
  readonly types: readonly Type[]
  /** The stages and directions in which it is allowed, such as `vertex output`. */
  readonly places: readonly `${Stage} ${Direction}`[]
}

/** The built-in values of all stages (WGSL, section "Built-in Inputs and Outputs"). */
export const builtinValues: ReadonlyMap<string, BuiltinValueRule> = new Map([
  ...rules(vec3u, ['compute input'], 'local_invocation_id global_invocation_id workgroup_id num_workgroups'),
  ...rules(u32Type, ['compute input'], 'local_invocation_index global_invocation_index workgroup_index'),
  ...rules(u32Type, ['compute input'], 'subgroup_id num_subgroups'),
  ...rules(u32Type, ['compute input', 'fragment input'], 'subgroup_invocation_id subgroup_size'),
  ...rules(u32Type, ['vertex input'], 'vertex_index instance_index'),
  ...rules(vec4f, ['vertex output', 'fragment input'], 'position'),
  ...rules(distances, ['vertex output'], 'clip_distances'),
  ...rules(boolType, ['fragment input'], 'front_facing'),
  ...rules(u32Type, ['fragment input'], 'sample_index primitive_index'),
  ...rules(u32Type, ['fragment input', 'fragment output'], 'sample_mask'),
  ...rules(f32Type, ['fragment output'], 'frag_depth'),
])

function rules(
  type: Type | readonly Type[],
  places: BuiltinValueRule['places'],
  names: string,
): (readonly [string, BuiltinValueRule])[] {
  return names.split(' ').map((name) => [name, { types: [type].flat(), places }] as const)
}
