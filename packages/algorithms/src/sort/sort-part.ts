import type { BufferView } from '@tandem-gpu/core'

/** One device's part of everything. */
export interface SortPart {
  readonly ordinal: number
  /** Of its first element. */
  readonly first: number
  readonly length: number
  readonly input: BufferView
  readonly output: BufferView
  readonly values?: BufferView | undefined
  readonly sortedValues?: BufferView | undefined
}
