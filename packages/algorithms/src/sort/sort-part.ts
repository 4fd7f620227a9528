import type { BufferView } from '@tandem-gpu/core'

/** One device's part of the keys, the values and the result. */
export interface SortPart {
  readonly ordinal: number
  /** The index of the part's first element. */
  readonly first: number
  readonly length: number
  readonly input: BufferView
  readonly output: BufferView
  readonly values?: BufferView | undefined
  readonly sortedValues?: BufferView | undefined
}
