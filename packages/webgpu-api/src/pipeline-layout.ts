import { ApiObject, type ObjectState, stateOf, toObject, unusable } from './api-object.ts'
import { countProblem, GPUBindGroupLayout, type LayoutContent } from './bind-group-layout.ts'
import type { DeviceState } from './device-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { labelOf, required, toDictionary, toSequence } from './webidl.ts'

export interface PipelineLayoutState extends ObjectState {
  /** By group; undefined for a group that needs no bind group. */
  readonly groups: readonly (LayoutContent | undefined)[]
}

export class GPUPipelineLayout extends ApiObject<PipelineLayoutState> {}
nameInterface(GPUPipelineLayout)

export function createPipelineLayout(device: DeviceState, given: unknown): GPUPipelineLayout {
  const what = 'the descriptor of createPipelineLayout'
  const descriptor = toDictionary(given, what)
  const label = labelOf(descriptor)
  const layouts = toSequence(
    required(descriptor, 'bindGroupLayouts', what),
    (item) =>
      item === null || item === undefined
        ? undefined
        : toObject(item, GPUBindGroupLayout, 'An element of bindGroupLayouts'),
    'bindGroupLayouts',
  )
  const problem = layoutsProblem(device, layouts)
  if (problem !== undefined) device.invalid(`createPipelineLayout: ${problem}`)
  const groups = layouts.map((layout) => {
    const content = layout && stateOf(layout).content
    return content === undefined || content.entries.length === 0 ? undefined : content
  })
  return new GPUPipelineLayout(creation, { device, valid: problem === undefined, groups }, label)
}

function layoutsProblem(
  device: DeviceState,
  layouts: readonly (GPUBindGroupLayout | undefined)[],
): string | undefined {
  const { limits } = device
  for (const layout of layouts) {
    if (layout === undefined) continue
    const problem = unusable(layout, device)
    if (problem !== undefined) return problem
    if (stateOf(layout).content.exclusive !== undefined)
      return "a layout that getBindGroupLayout returned belongs to its pipeline, which has an 'auto' layout."
  }
  if (layouts.length > limits.maxBindGroups)
    return `${layouts.length} bind group layouts exceed maxBindGroups, which is ${limits.maxBindGroups}.`
  return countProblem(
    layouts.map((layout) => (layout === undefined ? [] : stateOf(layout).content.entries)),
    limits,
  )
}
