import {
  arrayName,
  describedValue,
  type ElementArray,
  type ElementType,
  elementArray,
  GpuError,
  type HostBuffer,
  requireCount,
} from '@tandem-gpu/core'

/**
 * The source of the caller's elements: an array, or a function that fills `into` with the elements from the
 * flat, row-major index `offset` on. The function may be called for any range, more than once (verification
 * reads again), so that data larger than host memory can be streamed.
 */
export type ElementSource<T extends ElementType = ElementType> = ElementArray<T> | ElementReader<T>
/** Fills `into` with the elements from flat index `offset` on. */
export type ElementReader<T extends ElementType = ElementType> = (
  offset: number,
  into: ElementArray<T>,
) => void | Promise<void>

/**
 * The destination of results: an array, or a function that receives consecutive pieces in ascending order of
 * the flat, row-major index. `data` is valid only until the function returns (or its promise settles).
 */
export type ElementSink<T extends ElementType = ElementType> = ElementArray<T> | ElementWriter<T>
/** Receives the elements from flat index `offset` on. */
export type ElementWriter<T extends ElementType = ElementType> = (
  offset: number,
  data: ElementArray<T>,
) => void | Promise<void>

/** Elements in one piece of a stream: 16 MiB of 4-byte elements. */
export const streamChunkLength = 4_194_304

/**
 * Throws `validation` unless `data` is a function, which is trusted, or a typed array of `length` elements of
 * `type`. If `hosts` is true, host memory is accepted too.
 */
export function requireElements(
  what: string,
  data: unknown,
  type: ElementType,
  length: number,
  hosts = false,
): void {
  requireElementsOf(what, data, type, hosts)
  if (typeof data === 'function') return
  const { length: held } = data as { readonly length: number }
  if (held !== length)
    throw new GpuError('validation', `${what} has ${held} elements, but the shape needs ${length}.`)
}

function requireElementsOf(what: string, data: unknown, type: ElementType, hosts: boolean): void {
  if (typeof data === 'function') return
  const expected = elementArray(type, 0).constructor.name
  const isHost = typeof data === 'object' && data !== null && 'array' in data
  const name = isHost ? `host memory of ${describedType(data)}` : (arrayName(data) ?? describedValue(data))
  if (name === expected || (hosts && name === `host memory of ${type}`)) return
  const array = `${expected.startsWith('I') ? 'an' : 'a'} ${expected}`
  const choice = hosts ? `${array}, host memory of ${type} or a function` : `${array} or a function`
  throw new GpuError('validation', `${what} is ${name}; elements of ${type} need ${choice}.`)
}

function describedType(host: object): string {
  const type = 'type' in host ? String(host.type) : 'no type'
  return 'destroyed' in host && host.destroyed === true ? `${type} that is destroyed` : type
}

/** Milliseconds of work after which the event loop gets a turn. */
const longestTurn = 50
let turnBegan = 0

/**
 * References on the CPU take seconds between two reads from a device, and generated elements are available at
 * once. Without a turn of the event loop, timers, signals and page events would have to wait. Call it after
 * each part of the work: it resolves at once unless a turn is due.
 */
export async function giveTurn(): Promise<void> {
  if (performance.now() - turnBegan < longestTurn) return
  await new Promise((resolve) => setTimeout(resolve, 0))
  turnBegan = performance.now()
}

const pieceLength = 2 ** 15

/** Calls `work` for consecutive ranges of 0 up to `count`. The event loop may turn after each. */
export async function inPieces(count: number, work: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < count; from += pieceLength) {
    work(from, Math.min(count, from + pieceLength))
    await giveTurn()
  }
}

/**
 * Reads `length` elements from flat index `offset`. For an array, returns a view of it, not a copy. Rejects
 * if the function does.
 */
export async function readElements<T extends ElementType>(
  source: ElementSource<T>,
  type: T,
  offset: number,
  length: number,
): Promise<ElementArray<T>> {
  requireElementsOf('The source', source, type, false)
  requireCount(offset, 'The index of the first element')
  requireCount(length, 'The number of elements')
  await giveTurn()
  if (typeof source !== 'function') return source.subarray(offset, offset + length) as ElementArray<T>
  const into = elementArray(type, length)
  await source(offset, into)
  return into
}

/**
 * Fills `length` elements of host memory, starting at `target`, with the elements that start at flat index
 * `offset`.
 */
export async function readIntoHost<T extends ElementType>(
  host: HostBuffer<T>,
  target: number,
  source: ElementSource<T>,
  offset: number,
  length: number,
): Promise<void> {
  const elements = await readElements(source, host.type, offset, length)
  // If the source has destroyed the group, the next call throws.
  if (!host.destroyed) host.array.set(elements as never, target)
}

/**
 * Reproducible pseudo-random elements, for any range in any order: f32 are uniform in [-1, 1) with 24 bits,
 * i32 and u32 use all 32 bits. The value at an index depends only on the seed and the index: murmur3's
 * finalizer over the index, keyed. Throws `validation` for another type.
 */
export function generatedElements<T extends 'f32' | 'i32' | 'u32'>(type: T, seed = 1): ElementReader<T> {
  if (!['f32', 'i32', 'u32'].includes(type))
    throw new GpuError(
      'validation',
      `The type of generated elements is ${describedValue(type)}; it must be 'f32', 'i32' or 'u32'.`,
    )
  if (typeof seed !== 'number')
    throw new GpuError('validation', `The seed is ${describedValue(seed)}; it must be a number.`)
  const seedKey = mix((seed ^ 0x9e3779b9) | 0)
  return (offset, into) => {
    const target = into as Float32Array | Int32Array | Uint32Array
    let start = 0
    while (start < target.length) {
      // Indices with equal upper bits have the same key.
      const low = (offset + start) % 4294967296
      const key = mix(seedKey ^ ((offset + start - low) / 4294967296))
      const end = Math.min(target.length, start + 4294967296 - low)
      const base = low - start
      if (type === 'f32')
        for (let index = start; index < end; index++)
          target[index] = (mix((base + index) ^ key) >>> 8) * 2 ** -23 - 1
      // A typed array stores the same bits for signed and unsigned elements.
      else for (let index = start; index < end; index++) target[index] = mix((base + index) ^ key)
      start = end
    }
  }
}

function mix(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
