import { invalid } from '../errors.ts'
import type { ParameterValue, RecordedParameter } from './parameter.ts'
import { storeScalar } from './scalar-bits.ts'

/** Each dispatch's block starts at a multiple of this many bytes. */
const alignment = 256

/** Collects the uniform blocks of a program's dispatches into one piece of memory. */
export class UniformBlockBuilder {
  readonly #kept: boolean
  #bytes = new Uint8Array(4096)
  #view = new DataView(this.#bytes.buffer)
  #byteLength = 0

  /** If `kept` is false, each block overwrites the previous one: for dispatches that are only checked. */
  constructor(kept: boolean) {
    this.#kept = kept
  }

  /** Reserves zeroed space for one block and returns its offset. */
  reserve(byteLength: number): number {
    if (!this.#kept) this.#byteLength = 0
    const offset = this.#byteLength
    this.#byteLength += Math.ceil(byteLength / alignment) * alignment
    if (this.#byteLength > this.#bytes.byteLength) {
      const grown = new Uint8Array(Math.max(this.#byteLength, 2 * this.#bytes.byteLength))
      grown.set(this.#bytes)
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    return offset
  }

  /** Records that `parameter` is at `byteOffset`, so that `run` can change it. */
  place(parameter: RecordedParameter, byteOffset: number): void {
    if (this.#kept) parameter.byteOffsets.push(byteOffset)
  }

  /** Covers everything reserved so far; `reserve` invalidates it. */
  get view(): DataView {
    return this.#view
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#byteLength)
  }
}

/**
 * A copy of `block` with new values of some parameters. Throws `validation` for unknown names and for values
 * that do not fit.
 */
export function patchedUniformBlock(
  block: Uint8Array<ArrayBuffer>,
  slots: ReadonlyMap<string, RecordedParameter>,
  values: Readonly<Record<string, ParameterValue>>,
  program: string,
): Uint8Array<ArrayBuffer> {
  const copy = block.slice()
  const view = new DataView(copy.buffer)
  for (const [name, value] of Object.entries(values)) {
    const slot = slots.get(name)
    if (slot === undefined) {
      const known = [...slots.keys()].join(', ') || 'none'
      throw invalid(`Program "${program}" has no parameter "${name}"; its parameters are: ${known}.`)
    }
    const numbers = slot.numbers(value, `Parameter "${name}" of program "${program}"`)
    for (const byteOffset of slot.byteOffsets)
      for (let i = 0; i < numbers.length; i++) storeScalar(view, byteOffset + 4 * i, slot.scalar, numbers[i]!)
  }
  return copy
}
