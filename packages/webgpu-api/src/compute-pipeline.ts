import type { KernelSource } from '@tandem-gpu/core/backend'
import { type Binding, type Reflection, WgslError } from '@tandem-gpu/wgsl'
import { ApiObject, isObject, named, type ObjectState, stateOf, toObject, unusable } from './api-object.ts'
import {
  countProblem,
  type GPUBindGroupLayout,
  type LayoutContent,
  type LayoutEntry,
  layoutContent,
  wrapLayout,
} from './bind-group-layout.ts'
import { GPUShaderStage } from './constants.ts'
import type { DeviceState } from './device-state.ts'
import { GPUPipelineError } from './errors.ts'
import { creation, nameInterface } from './interfaces.ts'
import type { KernelEntry } from './kernel-store.ts'
import { GPUPipelineLayout } from './pipeline-layout.ts'
import { GPUShaderModule } from './shader-module.ts'
import type { ShaderKernel } from './shader-source.ts'
import {
  labelOf,
  member,
  requireArguments,
  required,
  toDictionary,
  toDouble,
  toEnum,
  toRecord,
  toText,
  toUnsignedLong,
} from './webidl.ts'

/** A buffer binding of the kernel. */
export interface KernelSlot {
  readonly group: number
  /** Position among the entries of the group's layout. */
  readonly entry: number
  readonly binding: number
  readonly minByteLength: number
}

/** The program of a valid pipeline. */
export interface PipelineProgram {
  readonly source: KernelSource
  /** By group; undefined for a group that needs no bind group. */
  readonly groups: readonly (LayoutContent | undefined)[]
  /** In the order of the bindings in the source's reflection. */
  readonly slots: readonly KernelSlot[]
}

export interface ComputePipelineState extends ObjectState {
  readonly program: PipelineProgram | undefined
  readonly kernel: KernelEntry | undefined
  /** The form for indirect dispatches, once it has compiled. */
  indirect?: KernelEntry
}

interface GivenPipeline {
  readonly label: string
  readonly layout: GPUPipelineLayout | 'auto'
  readonly module: GPUShaderModule
  readonly entryPoint: string | undefined
  readonly constants: Readonly<Record<string, number>>
}

export class GPUComputePipeline extends ApiObject<ComputePipelineState> {
  readonly #own: ComputePipelineState

  constructor(token: unknown, state: ComputePipelineState, label: string) {
    super(token, state, label)
    this.#own = state
  }

  getBindGroupLayout(...given: [index: number]): GPUBindGroupLayout {
    requireArguments(given.length, 1, 'getBindGroupLayout')
    const group = toUnsignedLong(given[0])
    const { device, valid, program } = this.#own
    const { maxBindGroups } = device.limits
    const problem = !valid
      ? `${named(this)} is invalid.`
      : group >= maxBindGroups
        ? `the group ${group} must be less than maxBindGroups, ${maxBindGroups}.`
        : undefined
    if (problem !== undefined) device.invalid(`getBindGroupLayout: ${problem}`)
    const content = program?.groups[group] ?? emptyLayout
    return wrapLayout(device, content, '', problem === undefined)
  }
}
nameInterface(GPUComputePipeline)

const emptyLayout = layoutContent([])

export function createComputePipeline(device: DeviceState, given: unknown): GPUComputePipeline {
  const pipeline = toPipeline(given, 'createComputePipeline')
  const prepared = prepare(device, pipeline)
  if (typeof prepared === 'string') {
    device.invalid(`createComputePipeline: ${prepared}`)
    return invalidPipeline(device, pipeline.label)
  }
  const state = compiled(device, prepared)
  const { kernel } = state
  const { open } = device.scopes
  if (kernel !== undefined && !kernel.isReady)
    device.scopes.await(
      kernel.ready.catch((error: unknown) => {
        state.valid = false
        device.report('internal', `createComputePipeline: ${messageOf(error)}`, open)
      }),
    )
  return new GPUComputePipeline(creation, state, pipeline.label)
}

/**
 * Throws if the pipeline is not valid: the promise of an async caller then rejects at once, before `lost`
 * resolves if the device is destroyed next.
 */
export function createComputePipelineAsync(
  device: DeviceState,
  given: unknown,
): GPUComputePipeline | Promise<GPUComputePipeline> {
  const pipeline = toPipeline(given, 'createComputePipelineAsync')
  const { label } = pipeline
  const prepared = prepare(device, pipeline)
  if (typeof prepared !== 'string') return whenCompiled(device, compiled(device, prepared), label)
  // Errors of a lost device are not reported.
  if (device.isLost) return invalidPipeline(device, label)
  throw new GPUPipelineError(`createComputePipelineAsync: ${prepared}`, { reason: 'validation' })
}

async function whenCompiled(
  device: DeviceState,
  state: ComputePipelineState,
  label: string,
): Promise<GPUComputePipeline> {
  try {
    await state.kernel?.ready
  } catch (error) {
    state.valid = false
    if (!device.isLost)
      throw new GPUPipelineError(`createComputePipelineAsync: ${messageOf(error)}`, { reason: 'internal' })
  }
  return new GPUComputePipeline(creation, state, label)
}

function compiled(device: DeviceState, program: PipelineProgram): ComputePipelineState {
  const kernel = device.isLost ? undefined : device.kernels.get(program.source, 'direct')
  return { device, valid: true, program, kernel }
}

function invalidPipeline(device: DeviceState, label: string): GPUComputePipeline {
  const state = { device, valid: false, program: undefined, kernel: undefined }
  return new GPUComputePipeline(creation, state, label)
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function toPipeline(given: unknown, method: string): GivenPipeline {
  const what = `the descriptor of ${method}`
  const descriptor = toDictionary(given, what)
  const label = labelOf(descriptor)
  const layout = toLayout(required(descriptor, 'layout', what))
  const compute = toDictionary(required(descriptor, 'compute', what), 'compute')
  const constants = member<[string, number][]>(compute, 'constants', [], (value, name) =>
    toRecord(value, toDouble, name),
  )
  const entryPoint = member<string | undefined>(compute, 'entryPoint', undefined, toText)
  const module = toObject(required(compute, 'module', 'compute'), GPUShaderModule, 'module')
  return { label, layout, module, entryPoint, constants: Object.fromEntries(constants) }
}

function toLayout(value: unknown): GPUPipelineLayout | 'auto' {
  if (isObject(value, GPUPipelineLayout)) return value
  if (typeof value === 'object' && value !== null) return toObject(value, GPUPipelineLayout, 'layout')
  return toEnum(value, ['auto'] as const, 'layout')
}

/** Returns the program of a pipeline, or what is wrong with it. */
function prepare(device: DeviceState, given: GivenPipeline): PipelineProgram | string {
  const { layout, module, entryPoint, constants, label } = given
  const problem = (layout === 'auto' ? undefined : unusable(layout, device)) ?? unusable(module, device)
  if (problem !== undefined) return problem
  const { source } = stateOf(module)
  let kernel: ShaderKernel
  try {
    kernel = source.kernel(entryPoint, constants)
  } catch (error) {
    if (!(error instanceof WgslError)) throw error
    return error.message
  }
  const { reflection } = kernel
  const wrong = limitProblem(device, reflection)
  if (wrong !== undefined) return wrong
  const groups = layout === 'auto' ? autoGroups(device, reflection) : stateOf(layout).groups
  if (typeof groups === 'string') return groups
  const slots: KernelSlot[] = []
  for (const binding of reflection.bindings) {
    const slot = slotOf(binding, groups)
    if (typeof slot === 'string') return slot
    slots.push(slot)
  }
  const kernelSource: KernelSource = {
    label: label === '' ? reflection.entryPoint : label,
    wgsl: source.code,
    entryPoint: reflection.entryPoint,
    constants,
    bounds: 'clamp',
    get module() {
      return kernel.lowered()
    },
    reflection,
  }
  return { source: kernelSource, groups, slots }
}

function limitProblem({ limits, features }: DeviceState, reflection: Reflection): string | undefined {
  const { workgroupSize, workgroupMemoryByteLength, features: used } = reflection
  for (const feature of used)
    if (!features.has(feature))
      return `the kernel needs the feature '${feature}', which the device does not have.`
  const [x, y, z] = workgroupSize
  const demands = [
    ['a workgroup size in x of', x, 'maxComputeWorkgroupSizeX'],
    ['a workgroup size in y of', y, 'maxComputeWorkgroupSizeY'],
    ['a workgroup size in z of', z, 'maxComputeWorkgroupSizeZ'],
    ['workgroups of', x * y * z, 'maxComputeInvocationsPerWorkgroup'],
    ['bytes of workgroup memory:', workgroupMemoryByteLength, 'maxComputeWorkgroupStorageSize'],
  ] as const
  for (const [what, value, limit] of demands)
    if (value > limits[limit]) return `the kernel has ${what} ${value}, but ${limit} is ${limits[limit]}.`
  return undefined
}

/** The buffer type of a binding of the kernel. */
function bufferType({ space, access }: Binding): 'uniform' | 'storage' | 'read-only-storage' {
  if (space === 'uniform') return 'uniform'
  return access === 'read' ? 'read-only-storage' : 'storage'
}

/** Returns the layout derived from the bindings of a kernel (`auto`), or why it is invalid. */
function autoGroups({ limits }: DeviceState, { bindings }: Reflection): LayoutContent[] | string {
  const count = bindings.reduce((most, { group }) => Math.max(most, group + 1), 0)
  if (count > limits.maxBindGroups)
    return `the kernel has the group ${count - 1}, which must be less than maxBindGroups, ${limits.maxBindGroups}.`
  const groups: LayoutEntry[][] = Array.from({ length: limits.maxBindGroups }, () => [])
  for (const binding of bindings) {
    if (binding.binding >= limits.maxBindingsPerBindGroup)
      return `the kernel has the binding ${binding.binding}, which must be less than maxBindingsPerBindGroup, ${limits.maxBindingsPerBindGroup}.`
    groups[binding.group]!.push({
      binding: binding.binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: bufferType(binding), hasDynamicOffset: false, minBindingSize: binding.minByteLength },
      texture: undefined,
    })
  }
  const pipeline = {}
  return countProblem(groups, limits) ?? groups.map((entries) => layoutContent(entries, pipeline))
}

function slotOf(binding: Binding, groups: PipelineProgram['groups']): KernelSlot | string {
  const { group, binding: number, minByteLength, name } = binding
  const entries = groups[group]?.entries ?? []
  const entry = entries.findIndex((e) => e.binding === number)
  const given = entries[entry]
  const where = `@group(${group}) @binding(${number}) ${name}`
  if (given === undefined) return `the layout has no entry for ${where}.`
  if ((given.visibility & GPUShaderStage.COMPUTE) === 0) return `${where} is not visible to compute shaders.`
  const type = bufferType(binding)
  if (given.buffer?.type !== type)
    return `${where} is a buffer of type '${type}'; the layout has ${given.buffer === undefined ? 'none there' : `'${given.buffer.type}'`}.`
  const { minBindingSize } = given.buffer
  if (minBindingSize !== 0 && minBindingSize < minByteLength)
    return `${where} needs ${minByteLength} bytes; the layout has a minBindingSize of ${minBindingSize}.`
  return { group, entry, binding: number, minByteLength }
}
