import { ApiObject, interfaceOf, named, type ObjectState, stateOf, toObject, unusable } from './api-object.ts'
import { GPUBindGroupLayout, type LayoutContent, type LayoutEntry } from './bind-group-layout.ts'
import { type BufferState, GPUBuffer } from './buffer.ts'
import { GPUBufferUsage } from './constants.ts'
import type { DeviceState } from './device-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { GPUExternalTexture, GPUSampler, GPUTexture, GPUTextureView } from './unavailable.ts'
import { labelOf, member, required, toDictionary, toSequence, toU32, toU64 } from './webidl.ts'

/** A bound range of a buffer. */
export interface BoundRange {
  /** Keeps the buffer, and so its memory, from being garbage-collected. */
  readonly buffer: GPUBuffer
  readonly state: BufferState
  readonly offset: number
  readonly size: number
  /** Whether kernels may write the range. */
  readonly writable: boolean
  /** Position among the dynamic offsets of the group; -1 if the offset is not dynamic. */
  readonly dynamic: number
}

export interface BindGroupState extends ObjectState {
  readonly content: LayoutContent
  /** In the order of the entries of `content`. */
  readonly ranges: readonly BoundRange[]
}

export class GPUBindGroup extends ApiObject<BindGroupState> {}
nameInterface(GPUBindGroup)

type Resource =
  | { readonly buffer: GPUBuffer; readonly offset: number; readonly size: number | undefined }
  | { readonly other: ApiObject }

interface GivenEntry {
  readonly binding: number
  readonly resource: Resource
}

const others = new Set<unknown>([GPUSampler, GPUTexture, GPUTextureView, GPUExternalTexture])

export function createBindGroup(device: DeviceState, given: unknown): GPUBindGroup {
  const what = 'the descriptor of createBindGroup'
  const descriptor = toDictionary(given, what)
  const label = labelOf(descriptor)
  const entries = toSequence(required(descriptor, 'entries', what), toEntry, 'entries')
  const layout = toObject(required(descriptor, 'layout', what), GPUBindGroupLayout, 'layout')
  const { content } = stateOf(layout)
  const ranges: BoundRange[] = []
  const problem = unusable(layout, device) ?? bind(device, content, entries, ranges)
  if (problem !== undefined) device.invalid(`createBindGroup: ${problem}`)
  return new GPUBindGroup(creation, { device, valid: problem === undefined, content, ranges }, label)
}

function toEntry(item: unknown): GivenEntry {
  const entry = toDictionary(item, 'An entry of a bind group')
  const binding = toU32(required(entry, 'binding', 'an entry of a bind group'), 'binding')
  return { binding, resource: toResource(required(entry, 'resource', 'an entry of a bind group')) }
}

function toResource(value: unknown): Resource {
  const type = interfaceOf(value)
  if (type === GPUBuffer) return { buffer: value as GPUBuffer, offset: 0, size: undefined }
  if (others.has(type)) return { other: value as ApiObject }
  const given = toDictionary(value, 'A resource of a bind group')
  const buffer = toObject(required(given, 'buffer', 'a resource of a bind group'), GPUBuffer, 'buffer')
  const offset = member(given, 'offset', 0, toU64)
  return { buffer, offset, size: member<number | undefined>(given, 'size', undefined, toU64) }
}

/** Fills `ranges` with the bound ranges in the order of the layout, or returns what is wrong. */
function bind(
  device: DeviceState,
  { entries, dynamic }: LayoutContent,
  given: readonly GivenEntry[],
  ranges: BoundRange[],
): string | undefined {
  if (given.length !== entries.length)
    return `the bind group has ${given.length} entries; its layout has ${entries.length}.`
  let position = 0
  for (const { binding, resource } of given) {
    // Most callers pass the entries in the order of the layout.
    const index =
      entries[position]?.binding === binding ? position : entries.findIndex((e) => e.binding === binding)
    position++
    const entry = entries[index]
    if (entry === undefined) return `the layout has no binding ${binding}.`
    if (ranges[index] !== undefined) return `two entries have binding ${binding}.`
    if ('other' in resource)
      return unusable(resource.other, device) ?? `${named(resource.other)} cannot be bound.`
    const { buffer, offset } = resource
    const state = stateOf(buffer)
    const size = resource.size ?? Math.max(0, state.size - offset)
    const problem = unusable(buffer, device) ?? rangeProblem(device, buffer, offset, size, entry)
    if (problem !== undefined) return problem
    const { type, hasDynamicOffset } = entry.buffer!
    ranges[index] = {
      buffer,
      state,
      offset,
      size,
      writable: type === 'storage',
      dynamic: hasDynamicOffset ? dynamic.indexOf(index) : -1,
    }
  }
  return undefined
}

function rangeProblem(
  { limits }: DeviceState,
  buffer: GPUBuffer,
  offset: number,
  size: number,
  { binding, buffer: layout }: LayoutEntry,
): string | undefined {
  if (layout === undefined) return `binding ${binding} is not for a buffer.`
  const isUniform = layout.type === 'uniform'
  const usage = isUniform ? 'UNIFORM' : 'STORAGE'
  const state = stateOf(buffer)
  if ((state.usage & GPUBufferUsage[usage]) === 0)
    return `${named(buffer)} at binding ${binding} does not have the usage ${usage}.`
  const alignment = isUniform
    ? limits.minUniformBufferOffsetAlignment
    : limits.minStorageBufferOffsetAlignment
  if (offset % alignment !== 0)
    return `the offset ${offset} at binding ${binding} is not a multiple of ${alignment}.`
  if (size === 0) return `the range at binding ${binding} is empty.`
  if (offset + size > state.size)
    return `bytes ${offset} to ${offset + size} at binding ${binding} are out of range for ${named(buffer)}, which has ${state.size} bytes.`
  if (!isUniform && size % 4 !== 0) return `the size ${size} at binding ${binding} is not a multiple of 4.`
  const largest = isUniform ? limits.maxUniformBufferBindingSize : limits.maxStorageBufferBindingSize
  if (size > largest) return `the size ${size} at binding ${binding} exceeds the limit of ${largest}.`
  if (size < layout.minBindingSize)
    return `the size ${size} at binding ${binding} is less than the layout's minBindingSize, ${layout.minBindingSize}.`
  return undefined
}
