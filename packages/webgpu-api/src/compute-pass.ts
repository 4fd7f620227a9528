import { commandWords } from '@tandem-gpu/core/backend'
import { ApiObject, named, type ObjectState, stateOf, toObject, unusable } from './api-object.ts'
import { type BindGroupState, GPUBindGroup } from './bind-group.ts'
import { GPUBuffer } from './buffer.ts'
import { type ComputePipelineState, GPUComputePipeline } from './compute-pipeline.ts'
import { GPUBufferUsage } from './constants.ts'
import { dispatchProblem } from './dispatch-check.ts'
import type { EncoderState } from './encoder-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { GPUQuerySet, type QuerySetState } from './query-set.ts'
import {
  labelOf,
  member,
  requireArguments,
  required,
  toDictionary,
  toSequence,
  toText,
  toU32,
  toU64,
} from './webidl.ts'

/** What is bound to one group. */
export interface BoundGroup {
  readonly group: BindGroupState
  readonly offsets: ArrayLike<number>
}

/** A query that is written at the end of a pass. */
interface Stamp {
  readonly querySet: QuerySetState
  readonly query: number
}

export interface ComputePassState extends ObjectState {
  readonly encoder: EncoderState
  /**
   * False for a pass that was begun while another was open, or after the encoder had finished. Such a pass
   * records nothing.
   */
  readonly records: boolean
  hasEnded: boolean
  debugGroups: number
  readonly atEnd: Stamp | undefined
  pipeline: ComputePipelineState | undefined
  readonly groups: (BoundGroup | undefined)[]
  /** Whether the last dispatch was valid and nothing has been set since. */
  isChecked: boolean
}

const noOffsets: readonly number[] = []

export class GPUComputePassEncoder extends ApiObject<ComputePassState> {
  readonly #own: ComputePassState

  constructor(token: unknown, state: ComputePassState, label: string) {
    super(token, state, label)
    this.#own = state
  }

  setPipeline(pipeline: unknown): undefined {
    const given = toObject(pipeline, GPUComputePipeline, 'pipeline')
    const state = this.#own
    if (!isOpen(state, 'setPipeline')) return undefined
    const problem = unusable(given, state.device)
    if (problem !== undefined) state.encoder.fail(`setPipeline: ${problem}`)
    else {
      state.pipeline = stateOf(given)
      state.isChecked = false
      state.encoder.recorded.kept.push(given)
    }
    return undefined
  }

  setBindGroup(index: unknown, ...more: [bindGroup: unknown, ...dynamicOffsets: unknown[]]): undefined {
    requireArguments(1 + more.length, 2, 'setBindGroup')
    const group = toU32(index, 'index')
    const bindGroup = more[0]
    const given =
      bindGroup === null || bindGroup === undefined
        ? undefined
        : toObject(bindGroup, GPUBindGroup, 'bindGroup')
    const offsets = more.length === 1 ? noOffsets : toOffsets(more)
    const state = this.#own
    if (!isOpen(state, 'setBindGroup')) return undefined
    const problem = bindProblem(state, group, given, offsets)
    if (problem !== undefined) {
      state.encoder.fail(`setBindGroup: ${problem}`)
      return undefined
    }
    state.isChecked = false
    if (given === undefined) {
      state.groups[group] = undefined
      return undefined
    }
    const bound = stateOf(given)
    state.groups[group] = { group: bound, offsets }
    const { recorded } = state.encoder
    recorded.kept.push(given)
    for (const range of bound.ranges) recorded.buffers.push(range.state)
    return undefined
  }

  dispatchWorkgroups(x: unknown, y: unknown = 1, z: unknown = 1): undefined {
    const countX = toU32(x, 'workgroupCountX')
    const countY = toU32(y, 'workgroupCountY')
    const countZ = toU32(z, 'workgroupCountZ')
    const state = this.#own
    if (!isOpen(state, 'dispatchWorkgroups')) return undefined
    const { encoder, device } = state
    const problem = checked(state)
    if (problem !== undefined) {
      encoder.fail(`dispatchWorkgroups: ${problem}`)
      return undefined
    }
    const { maxComputeWorkgroupsPerDimension: most } = device.limits
    if (countX > most || countY > most || countZ > most) {
      encoder.fail(
        `dispatchWorkgroups: ${countX} x ${countY} x ${countZ} workgroups exceed maxComputeWorkgroupsPerDimension, which is ${most}.`,
      )
      return undefined
    }
    if (countX === 0 || countY === 0 || countZ === 0 || device.isLost) return undefined
    const kernel = state.pipeline!.kernel!
    const { words, kernels } = encoder.recorded
    if (!kernel.isReady) kernels.add(kernel)
    words.push(commandWords.dispatch, kernel.number, countX, countY, countZ)
    pushBindings(state, words)
    return undefined
  }

  dispatchWorkgroupsIndirect(indirectBuffer: unknown, indirectOffset: unknown): undefined {
    const buffer = toObject(indirectBuffer, GPUBuffer, 'indirectBuffer')
    const offset = toU64(indirectOffset, 'indirectOffset')
    const state = this.#own
    if (!isOpen(state, 'dispatchWorkgroupsIndirect')) return undefined
    const { encoder, device } = state
    const problem = checked(state) ?? indirectProblem(state, buffer, offset)
    if (problem !== undefined) {
      encoder.fail(`dispatchWorkgroupsIndirect: ${problem}`)
      return undefined
    }
    const { recorded } = encoder
    const counts = stateOf(buffer)
    recorded.buffers.push(counts)
    recorded.kept.push(buffer)
    if (device.isLost) return undefined
    const pipeline = state.pipeline!
    const kernel = pipeline.indirect ?? device.kernels.get(pipeline.program!.source, 'indirect')
    if (kernel.isReady) pipeline.indirect = kernel
    else recorded.kernels.add(kernel)
    const { maxComputeWorkgroupsPerDimension: most } = device.limits
    recorded.words.push(commandWords.dispatchIndirect, kernel.number, counts.number, offset, most)
    pushBindings(state, recorded.words)
    return undefined
  }

  pushDebugGroup(...given: [groupLabel: unknown]): undefined {
    requireArguments(given.length, 1, 'pushDebugGroup')
    toText(given[0])
    const state = this.#own
    if (isOpen(state, 'pushDebugGroup')) state.debugGroups++
    return undefined
  }

  popDebugGroup(): undefined {
    const state = this.#own
    if (!isOpen(state, 'popDebugGroup')) return undefined
    if (state.debugGroups === 0) state.encoder.fail('popDebugGroup: no debug group is open in the pass.')
    else state.debugGroups--
    return undefined
  }

  insertDebugMarker(...given: [markerLabel: unknown]): undefined {
    requireArguments(given.length, 1, 'insertDebugMarker')
    toText(given[0])
    isOpen(this.#own, 'insertDebugMarker')
    return undefined
  }

  end(): undefined {
    const state = this.#own
    const { encoder, device, atEnd } = state
    if (state.hasEnded || encoder.phase === 'ended') {
      device.invalid(`end: the ${state.hasEnded ? 'pass has ended' : 'GPUCommandEncoder has finished'}.`)
      return undefined
    }
    state.hasEnded = true
    // A pass that was begun while another was open has already made the encoder invalid.
    if (encoder.pass !== state) return undefined
    encoder.phase = 'open'
    encoder.pass = undefined
    if (state.debugGroups > 0) encoder.fail('end: a debug group of the pass is open.')
    if (atEnd !== undefined) stamp(encoder, atEnd)
    return undefined
  }
}
nameInterface(GPUComputePassEncoder)

export function beginComputePass(encoder: EncoderState, given: unknown): GPUComputePassEncoder {
  const { device } = encoder
  const descriptor = toDictionary(given, 'The descriptor of beginComputePass')
  const label = labelOf(descriptor)
  const writes = member<TimestampWrites | undefined>(
    descriptor,
    'timestampWrites',
    undefined,
    toTimestampWrites,
  )
  const records = encoder.isOpen('beginComputePass')
  let atEnd: Stamp | undefined
  if (records && writes !== undefined) {
    const problem = writesProblem(encoder, writes)
    if (problem !== undefined) encoder.fail(`beginComputePass: ${problem}`)
    else {
      const querySet = stateOf(writes.querySet)
      encoder.recorded.querySets.push(querySet)
      encoder.recorded.kept.push(writes.querySet)
      if (writes.begin !== undefined) stamp(encoder, { querySet, query: writes.begin })
      if (writes.end !== undefined) atEnd = { querySet, query: writes.end }
    }
  }
  const state: ComputePassState = {
    device,
    valid: records,
    encoder,
    records,
    hasEnded: false,
    debugGroups: 0,
    atEnd,
    pipeline: undefined,
    groups: [],
    isChecked: false,
  }
  if (records) {
    encoder.phase = 'locked'
    encoder.pass = state
  }
  return new GPUComputePassEncoder(creation, state, label)
}

interface TimestampWrites {
  readonly querySet: GPUQuerySet
  readonly begin: number | undefined
  readonly end: number | undefined
}

function toTimestampWrites(value: unknown): TimestampWrites {
  const given = toDictionary(value, 'timestampWrites')
  const index = (name: string) => member<number | undefined>(given, name, undefined, toU32)
  const begin = index('beginningOfPassWriteIndex')
  const end = index('endOfPassWriteIndex')
  const querySet = toObject(required(given, 'querySet', 'timestampWrites'), GPUQuerySet, 'querySet')
  return { querySet, begin, end }
}

function writesProblem(
  { device }: EncoderState,
  { querySet, begin, end }: TimestampWrites,
): string | undefined {
  const { type, count } = stateOf(querySet)
  if (!device.features.has('timestamp-query'))
    return "timestampWrites need the feature 'timestamp-query', which the device does not have."
  const problem = unusable(querySet, device)
  if (problem !== undefined) return problem
  if (type !== 'timestamp') return `${named(querySet)} is for queries of type '${type}'.`
  if (begin === undefined && end === undefined) return 'timestampWrites has no index.'
  if (begin === end) return `timestampWrites has the index ${begin} twice.`
  if ((begin ?? 0) >= count || (end ?? 0) >= count)
    return `timestampWrites has an index that is out of range for ${named(querySet)}, which has ${count} queries.`
  return undefined
}

function stamp({ recorded }: EncoderState, { querySet, query }: Stamp): void {
  recorded.words.push(commandWords.timestamp, querySet.number, 8 * query)
}

/** Whether the pass accepts commands. Reports the error if it does not. */
function isOpen({ hasEnded, records, device }: ComputePassState, method: string): boolean {
  if (hasEnded) device.invalid(`${method}: the pass has ended.`)
  return records && !hasEnded
}

/** Converts, after the bind group, a sequence of offsets, or a Uint32Array, a start in it and a count. */
function toOffsets(more: readonly unknown[]): ArrayLike<number> {
  const [, data, start, length] = more
  if (more.length < 4) {
    if (more.length === 3) requireArguments(4, 5, 'setBindGroup')
    if (data === undefined) return noOffsets
    return toSequence(data, (offset) => toU32(offset, 'A dynamic offset'), 'dynamicOffsets')
  }
  if (!(data instanceof Uint32Array)) throw new TypeError('The dynamic offsets must be in a Uint32Array.')
  const from = toU64(start, 'dynamicOffsetsDataStart')
  const count = toU32(length, 'dynamicOffsetsDataLength')
  if (from + count > data.length)
    throw new RangeError(
      `${count} dynamic offsets from index ${from} are out of range for an array of ${data.length}.`,
    )
  // `slice` could be the caller's.
  return Uint32Array.from({ length: count }, (_, i) => data[from + i]!)
}

function bindProblem(
  { device }: ComputePassState,
  index: number,
  group: GPUBindGroup | undefined,
  offsets: ArrayLike<number>,
): string | undefined {
  const { limits } = device
  if (index >= limits.maxBindGroups)
    return `the index ${index} must be less than maxBindGroups, ${limits.maxBindGroups}.`
  if (group === undefined)
    return offsets.length > 0 ? 'dynamic offsets are given without a bind group.' : undefined
  const problem = unusable(group, device)
  if (problem !== undefined) return problem
  const { content, ranges } = stateOf(group)
  const { dynamic, entries } = content
  if (offsets.length !== dynamic.length)
    return `${offsets.length} dynamic offsets are given for ${named(group)}, which needs ${dynamic.length}.`
  for (const [i, at] of dynamic.entries()) {
    const { state, offset, size, buffer } = ranges[at]!
    const alignment =
      entries[at]!.buffer!.type === 'uniform'
        ? limits.minUniformBufferOffsetAlignment
        : limits.minStorageBufferOffsetAlignment
    const more = offsets[i]!
    if (more % alignment !== 0) return `the dynamic offset ${more} is not a multiple of ${alignment}.`
    if (offset + more + size > state.size)
      return `the dynamic offset ${more} moves the range of ${size} bytes from ${offset} out of ${named(buffer)}, which has ${state.size} bytes.`
  }
  return undefined
}

/**
 * Returns why a dispatch is invalid, or undefined. The result is cached until the state of the pass changes.
 */
function checked(state: ComputePassState): string | undefined {
  if (state.isChecked) return undefined
  const problem =
    state.pipeline === undefined
      ? 'no pipeline is set.'
      : dispatchProblem(state.pipeline.program!, state.groups)
  state.isChecked = problem === undefined
  return problem
}

function indirectProblem(state: ComputePassState, buffer: GPUBuffer, offset: number): string | undefined {
  const counts = stateOf(buffer)
  const problem = unusable(buffer, state.device)
  if (problem !== undefined) return problem
  if ((counts.usage & GPUBufferUsage.INDIRECT) === 0)
    return `${named(buffer)} does not have the usage INDIRECT.`
  if (offset % 4 !== 0) return `the offset ${offset} is not a multiple of 4.`
  if (offset + 12 > counts.size)
    return `bytes ${offset} to ${offset + 12} are out of range for ${named(buffer)}, which has ${counts.size} bytes.`
  return dispatchProblem(state.pipeline!.program!, state.groups, {
    ...{ state: counts, offset, size: 12 },
    writable: false,
  })
}

function pushBindings({ pipeline, groups }: ComputePassState, words: number[]): void {
  for (const { group, entry } of pipeline!.program!.slots) {
    const bound = groups[group]!
    const { state, offset, size, dynamic } = bound.group.ranges[entry]!
    words.push(state.number, dynamic < 0 ? offset : offset + bound.offsets[dynamic]!, size)
  }
}
