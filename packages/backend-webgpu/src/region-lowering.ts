import { type Extent, isContiguous } from '@tandem-gpu/core/backend'

/**
 * Lowers copies and fills of strided regions to WebGPU operations. `copyBufferToBuffer` and `clearBuffer`
 * handle only whole words and one row per call; everything else uses a kernel of region-kernels.ts. Pure
 * arithmetic, without a GPU.
 */

/** A region without its buffer, but with the buffer's size: bytes after `bufferByteLength` are padding. */
export interface BufferExtent extends Extent {
  readonly bufferByteLength: number
}

/** Byte length of the unit that a kernel moves: a word, or a part of a word that it assembles into words. */
export type UnitByteLength = 1 | 2 | 4

/** Numbers in units of `unitByteLength`. Row `r` of the target starts at `targetBase + r * targetStride`. */
export interface KernelStep {
  readonly kind: 'copy-kernel' | 'fill-kernel'
  readonly unitByteLength: UnitByteLength
  readonly rows: number
  /**
   * For units of a word: the units of a row. For smaller units: the number of target words that a row may
   * touch.
   */
  readonly itemsPerRow: number
  /** The bound range in bytes; it starts at a multiple of 256. Absent for fills. */
  readonly source?: { readonly byteOffset: number; readonly byteLength: number }
  readonly target: { readonly byteOffset: number; readonly byteLength: number }
  readonly sourceBase: number
  readonly sourceColumns: number
  readonly sourceStride: number
  readonly targetBase: number
  readonly targetColumns: number
  readonly targetStride: number
  readonly pattern: number
}

export type RegionStep =
  | KernelStep
  | {
      readonly kind: 'copy'
      readonly sourceOffset: number
      readonly targetOffset: number
      readonly byteLength: number
    }
  | { readonly kind: 'clear'; readonly targetOffset: number; readonly byteLength: number }

/** Properties of the device that affect the lowering. */
export interface LoweringOptions {
  readonly maxBindingByteLength: number
  /** True for adapters on the CPU, where commands copy at the speed of `memcpy` and kernels do not. */
  readonly software: boolean
}

/**
 * Whether one command per row is faster than one kernel. On a GPU it is for a few rows. On SwiftShader a
 * command costs 4 µs and a kernel 0.05 µs per word, so commands are faster except for short rows; the number
 * of rows is limited because each command is an object.
 */
export function prefersRowCommands(rows: number, rowByteLength: number, software: boolean): boolean {
  return rows <= 16 || (software && rows <= 16_384 && rowByteLength >= 256)
}

/**
 * From this size on a copy uses a kernel: on an H200 with Vulkan, `copyBufferToBuffer` moves 850 GB/s and a
 * kernel of 4-byte copies 2332 GB/s.
 */
const kernelCopyByteLength = 2 ** 20

function prefersKernel(byteLength: number, software: boolean): boolean {
  return !software && byteLength >= kernelCopyByteLength
}

/** Returns steps that copy `source` to `target`, which has the same rows and is in another buffer. */
export function lowerCopy(
  source: BufferExtent,
  target: BufferExtent,
  options: LoweringOptions,
): RegionStep[] {
  const { maxBindingByteLength, software } = options
  const [from, to] = collapse(source, target)
  const rows = from.rows
  const kernels = (part: KernelPart) => kernelSteps(part, 0, maxBindingByteLength)
  if (rows === 1 && from.byteOffset % 4 === to.byteOffset % 4)
    return rowSteps({ source: from, target: to }, kernels, (start, byteLength) =>
      prefersKernel(byteLength, software)
        ? undefined
        : {
            kind: 'copy',
            sourceOffset: from.byteOffset + start,
            targetOffset: to.byteOffset + start,
            byteLength,
          },
    )
  const byRows =
    prefersRowCommands(rows, from.rowByteLength, software) &&
    !prefersKernel(rows * from.rowByteLength, software)
  if (byRows && wordAligned(from) && wordAligned(to)) {
    return Array.from({ length: rows }, (_, row) => ({
      kind: 'copy' as const,
      sourceOffset: from.byteOffset + row * from.rowByteStride,
      targetOffset: to.byteOffset + row * to.rowByteStride,
      byteLength: from.rowByteLength,
    }))
  }
  return kernels({ source: from, target: to })
}

/** Returns steps that repeat `pattern` over `target`. */
export function lowerFill(
  target: BufferExtent,
  pattern: number,
  patternByteLength: UnitByteLength,
  options: LoweringOptions,
): RegionStep[] {
  const { maxBindingByteLength, software } = options
  const [to] = collapse(target, target)
  const wide = repeated(pattern, patternByteLength)
  const kernels = (part: KernelPart) => kernelSteps(part, wide, maxBindingByteLength)
  if (to.rows === 1)
    return rowSteps({ target: to }, kernels, (start, byteLength) =>
      wide === 0 ? { kind: 'clear', targetOffset: to.byteOffset + start, byteLength } : undefined,
    )
  if (wide === 0 && prefersRowCommands(to.rows, to.rowByteLength, software) && wordAligned(to)) {
    return Array.from({ length: to.rows }, (_, row) => ({
      kind: 'clear' as const,
      targetOffset: to.byteOffset + row * to.rowByteStride,
      byteLength: to.rowByteLength,
    }))
  }
  return kernels({ target: to })
}

/**
 * The steps of one row: `wordStep` is the command for its whole words, or undefined if a kernel does them.
 * Kernels do the bytes before and after.
 */
function rowSteps(
  row: KernelPart,
  kernels: (part: KernelPart) => KernelStep[],
  wordStep: (start: number, byteLength: number) => RegionStep | undefined,
): RegionStep[] {
  const { head, middle, tail } = wordParts(row.target)
  const part = (start: number, rowByteLength: number) =>
    rowByteLength === 0
      ? []
      : kernels(changed(row, ({ byteOffset }) => ({ byteOffset: byteOffset + start, rowByteLength })))
  const words = middle > 0 ? wordStep(head, middle) : undefined
  return [
    ...part(0, head),
    ...(words === undefined ? part(head, middle) : [words]),
    ...part(head + middle, tail),
  ]
}

/** Merges rows into one row if they have no gaps on either side. */
function collapse(source: BufferExtent, target: BufferExtent): [BufferExtent, BufferExtent] {
  if (!isContiguous(source) || !isContiguous(target)) return [source, target]
  const byteLength = source.rows * source.rowByteLength
  const row = { rows: 1, rowByteLength: byteLength, rowByteStride: byteLength }
  return [
    { ...source, ...row },
    { ...target, ...row },
  ]
}

/** The word that repeats the lowest `byteLength` bytes of `pattern`. */
function repeated(pattern: number, byteLength: UnitByteLength): number {
  if (byteLength === 1) return Math.imul(pattern & 0xff, 0x01010101) >>> 0
  return byteLength === 2 ? Math.imul(pattern & 0xffff, 0x00010001) >>> 0 : pattern >>> 0
}

function aligned(extent: BufferExtent, unit: UnitByteLength): boolean {
  return (
    extent.byteOffset % unit === 0 &&
    extent.rowByteLength % unit === 0 &&
    (extent.rows === 1 || extent.rowByteStride % unit === 0)
  )
}

const wordAligned = (extent: BufferExtent) => aligned(extent, 4)

/**
 * Splits one row into at most 3 bytes before the first word, whole words, and at most 3 bytes after; padding
 * counts as part of the row.
 */
function wordParts(row: BufferExtent): { head: number; middle: number; tail: number } {
  const head = Math.min(-row.byteOffset & 3, row.rowByteLength)
  const tail = (row.rowByteLength - head) % 4
  const middle = row.rowByteLength - head - tail
  const endsBuffer = row.byteOffset + row.rowByteLength === row.bufferByteLength
  return tail > 0 && endsBuffer ? { head, middle: middle + 4, tail: 0 } : { head, middle, tail }
}

function spanByteLength(extent: BufferExtent): number {
  return (extent.rows - 1) * extent.rowByteStride + extent.rowByteLength
}

/** The range that a kernel binds for `extent`: from a multiple of 256 to its end, in whole words. */
function boundRange(extent: BufferExtent): { byteOffset: number; byteLength: number } {
  const byteOffset = extent.byteOffset - (extent.byteOffset % 256)
  const end = Math.ceil((extent.byteOffset + spanByteLength(extent)) / 4) * 4
  return { byteOffset, byteLength: end - byteOffset }
}

/** What one kernel does: it fills `target` if there is no `source`, which otherwise has the same rows. */
interface KernelPart {
  readonly source?: BufferExtent
  readonly target: BufferExtent
}

/** The part whose extents both have these fields instead. */
function changed(
  { source, target }: KernelPart,
  fields: (extent: BufferExtent) => Partial<BufferExtent>,
): KernelPart {
  return {
    ...(source && { source: { ...source, ...fields(source) } }),
    target: { ...target, ...fields(target) },
  }
}

/** Halves a part until the bound range of each kernel fits the limit. Rows that exceed it are split too. */
function split(part: KernelPart, maxBindingByteLength: number): KernelPart[] {
  const { source, target } = part
  const fits = (extent: BufferExtent) => boundRange(extent).byteLength <= maxBindingByteLength
  if (fits(target) && (source === undefined || fits(source))) return [part]
  const cut = (fields: (extent: BufferExtent) => Partial<BufferExtent>) =>
    split(changed(part, fields), maxBindingByteLength)
  if (target.rows > 1) {
    const upper = Math.ceil(target.rows / 2)
    return [
      ...cut(() => ({ rows: upper })),
      ...cut((extent) => ({
        rows: extent.rows - upper,
        byteOffset: extent.byteOffset + upper * extent.rowByteStride,
      })),
    ]
  }
  const left = Math.ceil(target.rowByteLength / 8) * 4
  return [
    ...cut(() => ({ rowByteLength: left })),
    ...cut((extent) => ({
      rowByteLength: extent.rowByteLength - left,
      byteOffset: extent.byteOffset + left,
    })),
  ]
}

/**
 * Separates odd and even rows if neighbours may share a word of the target, which happens with gaps of one or
 * two bytes.
 */
function withoutSharedWords(part: KernelPart): KernelPart[] {
  const { target } = part
  const gap = target.rowByteStride - target.rowByteLength
  if (target.rows === 1 || gap === 0 || gap > 2 || aligned(target, 2)) return [part]
  return [0, 1].map((first) =>
    changed(part, (extent) => ({
      byteOffset: extent.byteOffset + first * extent.rowByteStride,
      rows: Math.ceil((extent.rows - first) / 2),
      rowByteStride: extent.rowByteStride * 2,
    })),
  )
}

function kernelSteps(part: KernelPart, pattern: number, maxBindingByteLength: number): KernelStep[] {
  return withoutSharedWords(part)
    .flatMap((rows) => split(rows, maxBindingByteLength))
    .map((one) => kernelStep(one, pattern))
}

function kernelStep({ source, target }: KernelPart, pattern: number): KernelStep {
  const unit = ([4, 2] as const).find((size) => aligned(target, size) && aligned(source ?? target, size)) ?? 1
  const unitsPerWord = 4 / unit
  const boundTarget = boundRange(target)
  const boundSource = source === undefined ? undefined : boundRange(source)
  const columns = target.rowByteLength / unit
  // Rows share words only if there is no gap between them; the target then treats them as one row.
  const dense = target.rows > 1 && target.rowByteStride === target.rowByteLength
  const oneRow = target.rows === 1 || (unit < 4 && dense && !wordAligned(target))
  const targetColumns = oneRow ? columns * target.rows : columns
  return {
    kind: source === undefined ? 'fill-kernel' : 'copy-kernel',
    unitByteLength: unit,
    rows: oneRow ? 1 : target.rows,
    // A row touches the most words if it begins with the last unit of a word.
    itemsPerRow: Math.ceil((unitsPerWord - 1 + targetColumns) / unitsPerWord),
    ...(boundSource === undefined ? {} : { source: boundSource }),
    target: boundTarget,
    sourceBase:
      source === undefined || boundSource === undefined
        ? 0
        : (source.byteOffset - boundSource.byteOffset) / unit,
    sourceColumns: columns,
    sourceStride: source === undefined || source.rows === 1 ? columns : source.rowByteStride / unit,
    targetBase: (target.byteOffset - boundTarget.byteOffset) / unit,
    targetColumns,
    targetStride: oneRow ? targetColumns : target.rowByteStride / unit,
    pattern,
  }
}
