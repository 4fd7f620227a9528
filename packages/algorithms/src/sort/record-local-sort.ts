import type { BufferView, Recorder } from '@tandem-gpu/core'
import type { PassKernels, SortForm, SortKernels, SortType } from './sort-kernels.ts'

/**
 * The maximum number of workgroups in one pass, each of which processes one range; several times as many as a
 * GPU runs at once.
 */
const mostRanges = 2048

/** Keys, and the values that move with them. */
export interface KeyViews {
  readonly keys: BufferView
  /** Absent if no values move, or if the pass generates them. */
  readonly values?: BufferView | undefined
}

/** How one pass reads and writes keys. */
export interface PassOptions {
  readonly from: KeyViews
  readonly to: KeyViews
  /** The digit: either its lowest bit, or the splitters between buckets. */
  readonly shift?: number | undefined
  readonly splitters?: BufferView<'u32'> | undefined
  /** How elements become keys, and keys elements. */
  readonly coding: KeyCoding
  /** The index of the first element, if the pass generates the values. */
  readonly firstIndex?: number | undefined
}

/** Options of `recordLocalSort`. */
export interface LocalSortOptions {
  readonly kernels: SortKernels
  readonly source: KeyViews
  /** As long as the source and on the same device: the source itself or other buffers. */
  readonly target: KeyViews
  readonly descending: boolean
  /** Whether the source holds keys that another pass has encoded. */
  readonly encoded?: boolean | undefined
  /** The index of the first element, if the sort generates the values. */
  readonly firstIndex?: number | undefined
  /** Memory that every other pass writes. Default: allocated by the program. */
  readonly between?: KeyViews | undefined
}

/**
 * Records a stable sort of one device's elements: passes over digits from the lowest to the highest. Each
 * pass counts the digits of ranges, computes prefix sums of the counts, and moves the keys
 * (least-significant-digit radix sort; Merrill and Grimshaw, High performance and scalable radix sorting,
 * 2011).
 */
export function recordLocalSort(recorder: Recorder, options: LocalSortOptions): void {
  const { kernels, source, target, descending, encoded = false, firstIndex } = options
  const { length, buffer } = source.keys
  if (length === 0) return
  const { ordinal } = buffer.device
  const { bits } = kernels.form
  const between: KeyViews = options.between ?? {
    keys: recorder.scratch(ordinal, kernels.type, length, { label: 'keys between passes' }),
    values:
      target.values &&
      recorder.scratch(ordinal, kernels.valueType, length, { label: 'values between passes' }),
  }
  const passes = 32 / bits
  let from = source
  for (let pass = 0; pass < passes; pass++) {
    // The number of passes is even, so the last one writes the target.
    const to = pass % 2 === 0 ? between : target
    const makesIndices = pass === 0 && firstIndex !== undefined
    recordPass(
      recorder,
      kernels.form,
      makesIndices ? { ...kernels, scatter: kernels.firstScatter } : kernels,
      {
        ...{ from, to, shift: pass * bits, firstIndex: makesIndices ? firstIndex : undefined },
        coding: codingOf(kernels.type, descending, pass === 0 && !encoded, pass === passes - 1),
      },
    )
    from = to
  }
}

/**
 * Records the move of keys to the positions that their digits determine; equal digits keep their order.
 * Returns how many keys have each digit.
 */
export function recordPass(
  recorder: Recorder,
  form: SortForm,
  { count, starts, scatter }: PassKernels,
  { from, to, shift = 0, splitters, coding, firstIndex }: PassOptions,
): BufferView<'u32'> {
  const { length, buffer } = from.keys
  const device = buffer.device.ordinal
  const { ranges, range } = rangesOf(form, length)
  const digits = 2 ** form.bits
  const counts = recorder.scratch(device, 'u32', digits * ranges, { label: 'counts of ranges' })
  const totals = recorder.scratch(device, 'u32', digits, { label: 'counts of digits' })
  const members = { ranges, range, ...coding, shift, first_index: firstIndex ?? 0 }
  const keys = { keys: from.keys, ...(splitters && { splitters }) }
  recorder.dispatch(count, {
    ...{ device, workgroups: ranges, label: 'count digits' },
    args: { ...keys, counts, ...members },
  })
  recorder.dispatch(starts, {
    ...{ device, workgroups: digits, label: 'add up counts' },
    args: { counts, totals, ...members },
  })
  const values = to.values && {
    ...(firstIndex === undefined && { values: from.values! }),
    sorted_values: to.values,
  }
  recorder.dispatch(scatter, {
    ...{ device, workgroups: ranges, label: 'move keys' },
    args: { ...keys, sorted: to.keys, counts, totals, ...values, ...members },
  })
  return totals
}

/** Ranges consist of whole tiles, so that all tiles but the last are full. */
export function rangesOf({ threads, each }: SortForm, length: number): { ranges: number; range: number } {
  const tile = threads * each
  const tiles = Math.ceil(length / tile)
  const range = Math.ceil(tiles / mostRanges) * tile
  return { ranges: Math.ceil(length / range), range }
}

/** The uniform members that select how a pass encodes or decodes its keys. */
export type KeyCoding = ReturnType<typeof codingOf>

export function codingOf(type: SortType, descending: boolean, encode: boolean, decode: boolean) {
  const mask = ((type === 'i32' ? 0x80000000 : 0) ^ (descending ? 0xffffffff : 0)) >>> 0
  const float = type === 'f32' ? 1 : 0
  return {
    encode_mask: encode ? mask : 0,
    decode_mask: decode ? mask : 0,
    floats: (encode ? float : 0) + (decode ? 2 * float : 0),
  }
}
