import type { DeviceGroup, ElementArray } from '@tandem-gpu/core'
import { type ElementSource, readElements } from '../element-source.ts'
import { gatherFromPieces, type SlicePiece } from '../gather-numbers.ts'
import { type Verification, verdict } from '../report.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import type { SortType } from './sort-kernels.ts'

/** The data that is compared. */
export interface SortCheck {
  readonly type: SortType
  readonly descending: boolean
  readonly elements: number
  readonly input: ElementSource
  readonly output: ShardedMatrix
  /** Absent if the sorted values are indices. */
  readonly values?: ElementSource | undefined
  readonly sortedValues?: ShardedMatrix | undefined
}

/** Up to this length, every element is compared with a stable sort on the CPU. */
const mostCompared = 2 ** 20

/**
 * For up to 2^20 elements, compares every element and value with a stable sort on the CPU. For more, checks
 * that the elements ascend (or descend), and compares sums of hashes of each element with its value to check
 * that they are the input's. A result that is in order but has other elements or pairs than the input passes
 * with a probability of about 2^-96. Indices must also ascend between equal elements, which leaves one valid
 * order; given values may be in any order there.
 */
export async function verifySort(group: DeviceGroup, check: SortCheck): Promise<Verification> {
  return check.elements <= mostCompared ? compareAll(group, check) : compareHashes(group, check)
}

async function compareAll(group: DeviceGroup, check: SortCheck): Promise<Verification> {
  const { elements, type, descending } = check
  const given = keysOf(await readElements(check.input, type, 0, elements), type, descending)
  const order = stableOrder(given)
  const values = await givenValues(check, 0, elements)
  const found = await gatherFromPieces(group, check.output, 1, async (piece, result) => {
    const [keys, own] = await sortedOf(check, piece)
    for (let i = 0; i < keys.length; i++) {
      const index = order[piece.at + i]!
      const right = keys[i] === given[index] && (own === undefined || own[i] === (values?.[index] ?? index))
      if (!right) result[0]!++
    }
  })
  const wrong = found.reduce((sum, [count]) => sum + count!, 0)
  if (wrong > 0) return failed(`${wrong} of ${elements} elements are not where a stable sort puts them`)
  return verdict(true, 'every element, in the order of a stable sort', 0)
}

/** Values of the caller; undefined if no values move with the elements, or their indices do. */
async function givenValues({ values, sortedValues }: SortCheck, first: number, count: number) {
  return values && sortedValues && wordsOf(await readElements(values, sortedValues.type, first, count))
}

async function compareHashes(group: DeviceGroup, check: SortCheck): Promise<Verification> {
  const { type, descending, output } = check
  // For each device: how many elements are out of order, the first and the last key and value, and by how much
  // three sums of hashes of the output exceed those of the input.
  const width = 8
  const indices = check.sortedValues !== undefined && check.values === undefined
  const descends = (key: number, value: number, nextKey: number, nextValue: number) =>
    key > nextKey || (indices && key === nextKey && value >= nextValue)
  const found = await gatherFromPieces(group, output, width, async (piece, result) => {
    const { first, at, count } = piece
    const [keys, own] = await sortedOf(check, piece)
    for (let i = 0; i < keys.length; i++) {
      const [key, value] = [keys[i]!, own?.[i] ?? 0]
      if (first + i === 0) [result[1], result[2]] = [key, value]
      else if (descends(result[3]!, result[4]!, key, value)) result[0]!++
      ;[result[3], result[4]] = [key, value]
      addHash(result, 1, key, value)
    }
    const source = keysOf(await readElements(check.input, type, at, count), type, descending)
    const values = await givenValues(check, at, count)
    for (let i = 0; i < source.length; i++)
      addHash(result, -1, source[i]!, values?.[i] ?? (indices ? at + i : 0))
  })
  let wrong = 0
  let before: Float64Array | undefined
  for (const [index, own] of found.entries()) {
    wrong += own[0]!
    if (output.slices[index]!.rows === 0) continue
    if (before && descends(before[3]!, before[4]!, own[1]!, own[2]!)) wrong++
    before = own
  }
  const same = [5, 6, 7].every((k) => found.reduce((sum, own) => sum + own[k]!, 0) % 4294967296 === 0)
  if (wrong > 0) return failed(`${wrong} elements are out of order`)
  if (!same) return failed('the elements are in order, but they are not those of the input')
  return verdict(true, 'all elements are in order, and by their hashes they are those of the input', 0)
}

/** The keys of a piece of the result, and the values that moved with them. */
async function sortedOf({ type, descending, sortedValues }: SortCheck, { read }: SlicePiece) {
  const keys = keysOf(await read(), type, descending)
  return [keys, sortedValues && wordsOf(await read(sortedValues))] as const
}

/** Maps elements to u32 keys that sort in the same order. */
export function keysOf(elements: ElementArray, type: SortType, descending: boolean): Uint32Array {
  const words = wordsOf(elements)
  const keys = new Uint32Array(words.length)
  const flip = descending ? 0xffffffff : 0
  for (let i = 0; i < words.length; i++) {
    const bits = words[i]!
    let key = bits
    if (type === 'i32') key = bits ^ 0x80000000
    if (type === 'f32') {
      key = bits >= 0x80000000 ? ~bits : bits | 0x80000000
      if ((bits & 0x7fffffff) > 0x7f800000) key = 0xffffffff
    }
    keys[i] = key ^ flip
  }
  return keys
}

/** The indices of the keys in ascending order of the keys; equal keys keep their order. */
export function stableOrder(keys: Uint32Array): Uint32Array {
  // A double holds key · 2^20 + index exactly.
  const tagged = Float64Array.from(keys, (key, index) => key * mostCompared + index).sort()
  return Uint32Array.from(tagged, (value) => value % mostCompared)
}

function wordsOf(elements: ElementArray): Uint32Array {
  return new Uint32Array(elements.buffer, elements.byteOffset, elements.length)
}

/** Adds three hashes of a pair, times `sign`, to the sums modulo 2^32 of a device. */
function addHash(sums: Float64Array, sign: 1 | -1, key: number, value: number): void {
  for (let k = 0; k < 3; k++) {
    let hash = Math.imul(key ^ (0x9e3779b9 * (k + 1)), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 15) ^ value, 0xc2b2ae35)
    hash = Math.imul(hash ^ (hash >>> 13), 0x27d4eb2f)
    sums[5 + k] = (sums[5 + k]! + sign * ((hash ^ (hash >>> 16)) >>> 0)) % 4294967296
  }
}

const failed = (verification: string) => verdict(false, verification, Number.NaN)
