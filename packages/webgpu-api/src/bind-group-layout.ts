import { ApiObject, type ObjectState } from './api-object.ts'
import { GPUShaderStage } from './constants.ts'
import type { DeviceState } from './device-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import type { Limits } from './limits.ts'
import { type TextureEntry, textureEntryProblem, toTextureEntry } from './texture-entry.ts'
import {
  type Dictionary,
  labelOf,
  member,
  required,
  toDictionary,
  toEnum,
  toSequence,
  toU32,
  toU64,
} from './webidl.ts'

const bufferTypes = ['uniform', 'storage', 'read-only-storage'] as const
export type BufferBindingType = (typeof bufferTypes)[number]

export interface BufferLayout {
  readonly type: BufferBindingType
  readonly hasDynamicOffset: boolean
  readonly minBindingSize: number
}

/** An entry of a bind group layout. `buffer` is present unless the entry is for a texture or a sampler. */
export interface LayoutEntry {
  readonly binding: number
  readonly visibility: number
  readonly buffer: BufferLayout | undefined
  readonly texture: TextureEntry | undefined
}

/**
 * The part of a layout that decides which bind groups fit. All GPUBindGroupLayouts of one group of an `auto`
 * pipeline share it.
 */
export interface LayoutContent {
  /** By binding. */
  readonly entries: readonly LayoutEntry[]
  /** Positions in `entries` of the entries with dynamic offsets. */
  readonly dynamic: readonly number[]
  /** The only pipeline that it may be used with, if it comes from an `auto` layout. */
  readonly exclusive: object | undefined
  /** Equal for equal entries. */
  readonly key: string
}

export interface BindGroupLayoutState extends ObjectState {
  readonly content: LayoutContent
}

export class GPUBindGroupLayout extends ApiObject<BindGroupLayoutState> {}
nameInterface(GPUBindGroupLayout)

export function layoutContent(entries: readonly LayoutEntry[], exclusive?: object): LayoutContent {
  const sorted = [...entries].sort((a, b) => a.binding - b.binding)
  const dynamic = [...sorted.keys()].filter((index) => sorted[index]!.buffer?.hasDynamicOffset)
  const key = sorted
    .map(({ binding, visibility, buffer, texture }) =>
      buffer === undefined
        ? `${binding} ${visibility} ${texture?.key}`
        : `${binding} ${visibility} ${buffer.type} ${buffer.hasDynamicOffset} ${buffer.minBindingSize}`,
    )
    .join()
  return { entries: sorted, dynamic, exclusive, key }
}

/** Whether a bind group of one layout fits a pipeline that expects the other. */
export function areEquivalent(a: LayoutContent, b: LayoutContent): boolean {
  return a === b || (a.exclusive === b.exclusive && a.key === b.key)
}

export function wrapLayout(
  device: DeviceState,
  content: LayoutContent,
  label = '',
  valid = true,
): GPUBindGroupLayout {
  return new GPUBindGroupLayout(creation, { device, valid, content }, label)
}

export function createBindGroupLayout(device: DeviceState, given: unknown): GPUBindGroupLayout {
  const descriptor = toDictionary(given, 'The descriptor of createBindGroupLayout')
  const label = labelOf(descriptor)
  const list = required(descriptor, 'entries', 'the descriptor of createBindGroupLayout')
  const given_ = toSequence(list, (item) => toEntry(item, device.features), 'entries')
  const problem = entriesProblem(device, given_)
  if (problem !== undefined) device.invalid(`createBindGroupLayout: ${problem}`)
  const entries = given_.map(({ kinds: _, ...entry }) => entry)
  return wrapLayout(device, layoutContent(entries), label, problem === undefined)
}

interface GivenEntry extends LayoutEntry {
  /** How many of the members that select a binding type are present. */
  readonly kinds: number
}

function toEntry(item: unknown, features: ReadonlySet<string>): GivenEntry {
  const entry = toDictionary(item, 'An entry of a bind group layout')
  const binding = toU32(required(entry, 'binding', 'a layout entry'), 'binding')
  const buffer = member<BufferLayout | undefined>(entry, 'buffer', undefined, toBufferLayout)
  const { texture, kinds } = toTextureEntry(entry, features)
  const visibility = toU32(required(entry, 'visibility', 'a layout entry'), 'visibility')
  return { binding, visibility, buffer, texture, kinds: kinds + (buffer === undefined ? 0 : 1) }
}

function toBufferLayout(value: unknown): BufferLayout {
  const layout: Dictionary = toDictionary(value, 'The member buffer of a layout entry')
  return {
    hasDynamicOffset: member(layout, 'hasDynamicOffset', false, Boolean),
    minBindingSize: member(layout, 'minBindingSize', 0, toU64),
    type: member(layout, 'type', 'uniform' as BufferBindingType, (type) => toEnum(type, bufferTypes, 'type')),
  }
}

function entriesProblem(
  { limits, features }: DeviceState,
  entries: readonly GivenEntry[],
): string | undefined {
  const seen = new Set<number>()
  for (const { binding, visibility, buffer, texture, kinds } of entries) {
    if (seen.has(binding)) return `two entries have binding ${binding}.`
    seen.add(binding)
    if (binding >= limits.maxBindingsPerBindGroup)
      return `binding ${binding} must be less than maxBindingsPerBindGroup, ${limits.maxBindingsPerBindGroup}.`
    if (kinds !== 1)
      return `the entry for binding ${binding} has ${kinds} of the members buffer, sampler, texture, storageTexture and externalTexture; it must have exactly one.`
    if ((visibility & ~allStages) !== 0)
      return `the visibility of binding ${binding} is 0x${visibility.toString(16)}, which is not a valid combination of GPUShaderStage flags.`
    if (buffer?.type === 'storage' && (visibility & GPUShaderStage.VERTEX) !== 0)
      return `the storage buffer of binding ${binding} cannot be visible to vertex shaders.`
    const wrong = texture && textureEntryProblem(texture, visibility, features)
    if (wrong !== undefined) return `the entry for binding ${binding} ${wrong}`
  }
  return countProblem([entries], limits)
}

const { VERTEX, FRAGMENT, COMPUTE } = GPUShaderStage
const allStages = VERTEX | FRAGMENT | COMPUTE

/** Describes the limit that the entries of several groups together exceed; undefined if they exceed none. */
export function countProblem(
  groups: readonly (readonly LayoutEntry[])[],
  limits: Limits,
): string | undefined {
  const entries = groups.flat()
  const exceeded = (what: string, limit: keyof Limits, slots: (entry: LayoutEntry) => boolean | number) => {
    let count = 0
    for (const entry of entries) count += Number(slots(entry))
    return count > limits[limit] ? `${count} ${what} exceed ${limit}, which is ${limits[limit]}.` : undefined
  }
  const isUniform = ({ buffer }: LayoutEntry) => buffer?.type === 'uniform'
  const isStorage = ({ buffer }: LayoutEntry) => buffer !== undefined && buffer.type !== 'uniform'
  const isDynamic = ({ buffer }: LayoutEntry) => buffer?.hasDynamicOffset === true
  const problem =
    exceeded(
      'uniform buffers with dynamic offsets',
      'maxDynamicUniformBuffersPerPipelineLayout',
      (entry) => isUniform(entry) && isDynamic(entry),
    ) ??
    exceeded(
      'storage buffers with dynamic offsets',
      'maxDynamicStorageBuffersPerPipelineLayout',
      (entry) => isStorage(entry) && isDynamic(entry),
    )
  if (problem !== undefined) return problem
  for (const stage of [COMPUTE, FRAGMENT, VERTEX]) {
    const at = (slots: (entry: LayoutEntry) => boolean | number) => (entry: LayoutEntry) =>
      (entry.visibility & stage) !== 0 && slots(entry)
    // An external texture needs a uniform buffer, a sampler and four textures.
    const texture = (kind: TextureEntry['kind'], external = 0) =>
      at(({ texture }) => (texture?.kind === 'externalTexture' ? external : texture?.kind === kind))
    const found =
      exceeded(
        'uniform buffers in a stage',
        'maxUniformBuffersPerShaderStage',
        at((entry) => isUniform(entry) || entry.texture?.kind === 'externalTexture'),
      ) ??
      exceeded('storage buffers in a stage', 'maxStorageBuffersPerShaderStage', at(isStorage)) ??
      exceeded('samplers in a stage', 'maxSamplersPerShaderStage', texture('sampler', 1)) ??
      exceeded('textures in a stage', 'maxSampledTexturesPerShaderStage', texture('texture', 4)) ??
      exceeded('storage textures in a stage', 'maxStorageTexturesPerShaderStage', texture('storageTexture'))
    if (found !== undefined) return found
  }
  return undefined
}
