import { commandWords } from '@tandem-gpu/core/backend'
import { ApiObject, isObject, named, stateOf, toObject, unusable } from './api-object.ts'
import { type BufferState, GPUBuffer } from './buffer.ts'
import { GPUCommandBuffer } from './command-buffer.ts'
import { beginComputePass, type GPUComputePassEncoder } from './compute-pass.ts'
import { GPUBufferUsage } from './constants.ts'
import type { DeviceState } from './device-state.ts'
import { EncoderState } from './encoder-state.ts'
import { creation, nameInterface } from './interfaces.ts'
import { GPUQuerySet } from './query-set.ts'
import { GPURenderPassEncoder } from './render-pass.ts'
import { unavailable } from './unavailable.ts'
import { labelOf, requireArguments, toDictionary, toText, toU32, toU64 } from './webidl.ts'

/** Required alignment of the destination offset of resolveQuerySet. */
const resolveAlignment = 256

export class GPUCommandEncoder extends ApiObject<EncoderState> {
  readonly #own: EncoderState

  constructor(token: unknown, state: EncoderState, label: string) {
    super(token, state, label)
    this.#own = state
  }

  beginComputePass(descriptor?: unknown): GPUComputePassEncoder {
    return beginComputePass(this.#own, descriptor)
  }

  beginRenderPass(descriptor: unknown): GPURenderPassEncoder {
    const label = labelOf(toDictionary(descriptor, 'The descriptor of beginRenderPass'))
    const encoder = this.#own
    const pass = new GPURenderPassEncoder(creation, { device: encoder.device, valid: false, encoder }, label)
    if (!encoder.isOpen('beginRenderPass')) return pass
    encoder.phase = 'locked'
    encoder.pass = stateOf(pass)
    encoder.fail(unavailable('beginRenderPass'))
    return pass
  }

  copyBufferToBuffer(source: unknown, destination: unknown, size?: unknown): undefined
  copyBufferToBuffer(
    source: unknown,
    sourceOffset: unknown,
    destination: unknown,
    destinationOffset: unknown,
    size?: unknown,
  ): undefined
  copyBufferToBuffer(...given: unknown[]): undefined {
    requireArguments(given.length, 2, 'copyBufferToBuffer')
    const short = given.length < 4 && isObject(given[1], GPUBuffer)
    if (!short) requireArguments(given.length, 4, 'copyBufferToBuffer')
    const [from, to] = short
      ? [0, 0]
      : [toU64(given[1], 'sourceOffset'), toU64(given[3], 'destinationOffset')]
    const source = toObject(given[0], GPUBuffer, 'source')
    const destination = toObject(given[short ? 1 : 2], GPUBuffer, 'destination')
    const size = given[short ? 2 : 4]
    const byteLength = size === undefined ? Math.max(0, source.size - from) : toU64(size, 'size')
    const encoder = this.#own
    if (!encoder.isOpen('copyBufferToBuffer')) return undefined
    const [s, d] = [stateOf(source), stateOf(destination)]
    const problem =
      rangeProblem(encoder, source, 'COPY_SRC', from, byteLength) ??
      rangeProblem(encoder, destination, 'COPY_DST', to, byteLength) ??
      (source === destination ? 'the source and the destination are the same buffer.' : undefined) ??
      (overlap(s, from, d, to, byteLength) ? 'the source and the destination share memory.' : undefined)
    if (problem !== undefined) encoder.fail(`copyBufferToBuffer: ${problem}`)
    else {
      use(encoder, source)
      use(encoder, destination)
      if (byteLength > 0)
        encoder.recorded.words.push(commandWords.copy, s.number, from, d.number, to, byteLength)
    }
    return undefined
  }

  clearBuffer(buffer: unknown, offset: unknown = 0, size?: unknown): undefined {
    const target = toObject(buffer, GPUBuffer, 'buffer')
    const start = toU64(offset, 'offset')
    const byteLength = size === undefined ? Math.max(0, target.size - start) : toU64(size, 'size')
    const encoder = this.#own
    if (!encoder.isOpen('clearBuffer')) return undefined
    const problem = rangeProblem(encoder, target, 'COPY_DST', start, byteLength)
    if (problem !== undefined) encoder.fail(`clearBuffer: ${problem}`)
    else {
      use(encoder, target)
      if (byteLength > 0)
        encoder.recorded.words.push(commandWords.clear, stateOf(target).number, start, byteLength)
    }
    return undefined
  }

  resolveQuerySet(
    querySet: unknown,
    firstQuery: unknown,
    queryCount: unknown,
    destination: unknown,
    destinationOffset: unknown,
  ): undefined {
    const queries = toObject(querySet, GPUQuerySet, 'querySet')
    const first = toU32(firstQuery, 'firstQuery')
    const count = toU32(queryCount, 'queryCount')
    const target = toObject(destination, GPUBuffer, 'destination')
    const offset = toU64(destinationOffset, 'destinationOffset')
    const encoder = this.#own
    if (!encoder.isOpen('resolveQuerySet')) return undefined
    const state = stateOf(queries)
    const problem =
      unusable(queries, encoder.device) ??
      (first >= state.count || first + count > state.count
        ? `queries ${first} to ${first + count} are out of range for ${named(queries)}, which has ${state.count}.`
        : undefined) ??
      (offset % resolveAlignment !== 0
        ? `the destination offset ${offset} is not a multiple of ${resolveAlignment}.`
        : undefined) ??
      rangeProblem(encoder, target, 'QUERY_RESOLVE', offset, 8 * count)
    if (problem !== undefined) {
      encoder.fail(`resolveQuerySet: ${problem}`)
      return undefined
    }
    const { recorded } = encoder
    recorded.querySets.push(state)
    recorded.kept.push(queries)
    use(encoder, target)
    if (count > 0)
      recorded.words.push(
        commandWords.copy,
        state.number,
        8 * first,
        stateOf(target).number,
        offset,
        8 * count,
      )
    return undefined
  }

  copyBufferToTexture(): undefined {
    return this.#unavailable('copyBufferToTexture')
  }

  copyTextureToBuffer(): undefined {
    return this.#unavailable('copyTextureToBuffer')
  }

  copyTextureToTexture(): undefined {
    return this.#unavailable('copyTextureToTexture')
  }

  pushDebugGroup(...given: [groupLabel: unknown]): undefined {
    requireArguments(given.length, 1, 'pushDebugGroup')
    toText(given[0])
    const encoder = this.#own
    if (encoder.isOpen('pushDebugGroup')) encoder.debugGroups++
    return undefined
  }

  popDebugGroup(): undefined {
    const encoder = this.#own
    if (!encoder.isOpen('popDebugGroup')) return undefined
    if (encoder.debugGroups === 0) encoder.fail('popDebugGroup: no debug group is open.')
    else encoder.debugGroups--
    return undefined
  }

  insertDebugMarker(...given: [markerLabel: unknown]): undefined {
    requireArguments(given.length, 1, 'insertDebugMarker')
    toText(given[0])
    this.#own.isOpen('insertDebugMarker')
    return undefined
  }

  finish(descriptor?: unknown): GPUCommandBuffer {
    const label = labelOf(toDictionary(descriptor, 'The descriptor of finish'))
    const encoder = this.#own
    const { device, phase, recorded } = encoder
    const problem =
      phase === 'ended'
        ? 'the GPUCommandEncoder has finished.'
        : (encoder.problem ??
          (phase === 'locked' ? 'a pass is open.' : undefined) ??
          (encoder.debugGroups > 0 ? 'a debug group is open.' : undefined))
    encoder.phase = 'ended'
    if (problem !== undefined) device.invalid(`finish: ${problem}`)
    const valid = problem === undefined
    return new GPUCommandBuffer(creation, { device, valid, recorded: valid ? recorded : undefined }, label)
  }

  #unavailable(method: string): undefined {
    const encoder = this.#own
    if (encoder.isOpen(method)) encoder.fail(unavailable(method))
    return undefined
  }
}
nameInterface(GPUCommandEncoder)

export function createCommandEncoder(device: DeviceState, given: unknown): GPUCommandEncoder {
  const label = labelOf(toDictionary(given, 'The descriptor of createCommandEncoder'))
  return new GPUCommandEncoder(creation, new EncoderState(device), label)
}

function use({ recorded }: EncoderState, buffer: GPUBuffer): void {
  recorded.buffers.push(stateOf(buffer))
  recorded.kept.push(buffer)
}

/** Returns why a command cannot access these bytes, or undefined if it can. */
function rangeProblem(
  { device }: EncoderState,
  buffer: GPUBuffer,
  usage: keyof typeof GPUBufferUsage,
  offset: number,
  byteLength: number,
): string | undefined {
  const state = stateOf(buffer)
  const problem = unusable(buffer, device)
  if (problem !== undefined) return problem
  if ((state.usage & GPUBufferUsage[usage]) === 0) return `${named(buffer)} does not have the usage ${usage}.`
  if (offset % 4 !== 0 || byteLength % 4 !== 0)
    return `offset and size must be multiples of 4 bytes, not ${byteLength} bytes from ${offset}.`
  if (offset + byteLength > state.size)
    return `bytes ${offset} to ${offset + byteLength} are out of range for ${named(buffer)}, which has ${state.size} bytes.`
  return undefined
}

/** Whether two buffers use the same memory and these ranges of them share bytes. */
function overlap(a: BufferState, from: number, b: BufferState, to: number, byteLength: number): boolean {
  if (a.memory !== b.memory) return false
  return Math.abs(a.memoryOffset + from - b.memoryOffset - to) < byteLength
}
