import {
  type BufferView,
  blocked,
  type DeviceGroup,
  dispatchBlocks,
  foldWorkgroups,
  type Kernel,
  type Recorder,
} from '@tandem-gpu/core'
import { requireParts } from '../require-parts.ts'
import { invalid, requireResult } from '../require-result.ts'
import { type ScanKernels, scanTileLength, type TileKernels, tilesPerSuperGroup } from './scan-kernels.ts'

/** Options of `recordScan`. */
export interface RecordScanOptions {
  readonly kernels: ScanKernels
  /**
   * Consecutive parts of the input, on any devices; each but the last non-empty one holds a multiple of
   * `scanTileLength` elements.
   */
  readonly input: readonly BufferView[]
  /** Parts of the same lengths as those of the input, on the same devices, in other buffers. */
  readonly output: readonly BufferView[]
  /** Whether an element is excluded from its own result. Default false. */
  readonly exclusive?: boolean | undefined
}

/** A part of the vector, and the range of its tiles among those of all parts. */
interface Part {
  readonly ordinal: number
  readonly input: BufferView
  readonly output: BufferView
  readonly firstTile: number
  readonly tiles: number
}

/**
 * Records `output[i] = input[0] ⊕ … ⊕ input[i]`. Each device combines the tiles of its part, the device of
 * the first part scans these sums, and each device scans its tiles starting from the results (Dotsenko et
 * al., Fast scan algorithms on graphics processors, ICS 2008). The order of additions is fixed in global
 * coordinates (scan-operation.part.wgsl), so the bits do not depend on the number of devices. One number for
 * each tile is transferred twice.
 */
export function recordScan(recorder: Recorder, group: DeviceGroup, options: RecordScanOptions): void {
  const { kernels, exclusive = false } = options
  requireResult(kernels, 'tilesPerWorkgroup', 'The option kernels', 'a value that compileScan returned')
  const parts = partsOf(options)
  if (parts.length === 0) return
  const home = parts[0]!.ordinal
  const tiles = parts.reduce((sum, part) => sum + part.tiles, 0)

  // The sum of each tile, and then in its place the sum of everything before the tile. In two arrays, the sums
  // of a repetition could run concurrently with the scan of the one before it, which takes longer: on 2 H200s,
  // 1.95 ms instead of 1.51 for 2^30 elements.
  const prefixes = recorder.scratch(home, 'u32', tiles, { label: 'prefixes' })
  const own = parts.flatMap((part): Placed[] => {
    const { ordinal, firstTile, tiles } = part
    if (!recorder.touches(ordinal, home)) return []
    const place = prefixes.slice(firstTile, tiles)
    const local = group.canAccessPeer(ordinal, home)
      ? place
      : recorder.scratch(ordinal, 'u32', tiles, { label: `prefixes ${ordinal}` })
    return [{ part, place, local }]
  })

  // Reduce: the sums of the tiles. Scan: the sums of everything before them.
  if (tiles === 1) recorder.fill(prefixes, kernels.neutral, { label: 'nothing comes before' })
  else {
    for (const { part, place, local } of own) {
      recordSums(recorder, kernels, part, local)
      if (local !== place) recorder.copy(local, place, { label: 'gather sums' })
    }
    if (recorder.touches(home)) recordPrefixes(recorder, kernels, home, prefixes)
  }

  // Scan: the elements of each tile, starting from that sum.
  for (const { part, place, local } of own) {
    if (local !== place) recorder.copy(place, local, { label: 'spread prefixes' })
    recordTiles(recorder, kernels, part, local, exclusive)
  }
}

/** A part, its place among the prefixes of all, and the memory in which its device reads and writes them. */
interface Placed {
  readonly part: Part
  readonly place: BufferView<'u32'>
  readonly local: BufferView<'u32'>
}

/** The sums of a part's tiles. */
function recordSums(recorder: Recorder, kernels: ScanKernels, part: Part, sums: BufferView<'u32'>): void {
  const { ordinal, input } = part
  eachKernel(kernels.sums, part, [input], (kernel, first, count) =>
    dispatchBlocks(recorder, kernel, {
      device: ordinal,
      blocks: count,
      blocksPerWorkgroup: kernels.tilesPerWorkgroup,
      args: {
        input: blocked(tilesOf(input, first, count), scanTileLength),
        sums: blocked(sums.slice(first, count), 1),
      },
      label: 'sum tiles',
    }),
  )
}

/** The sum of everything before each tile, in place of the sum of the tile. */
export function recordPrefixes(
  recorder: Recorder,
  { groups, chain }: ScanKernels,
  home: number,
  prefixes: BufferView<'u32'>,
): void {
  const superGroups = Math.ceil(prefixes.length / tilesPerSuperGroup)
  const supers = recorder.scratch(home, 'u32', superGroups, { label: 'sums of super-groups' })
  dispatchBlocks(recorder, groups, {
    device: home,
    blocks: superGroups,
    args: {
      prefixes: blocked(prefixes, tilesPerSuperGroup),
      supers: blocked(supers, 1),
    },
    label: 'scan sums',
  })
  if (superGroups === 1) return
  recorder.dispatch(chain, {
    device: home,
    workgroups: foldWorkgroups(superGroups - 1, recorder.devices[home]!),
    args: { supers, prefixes },
    label: 'chain super-groups',
  })
}

/** The elements of a part's tiles. */
function recordTiles(
  recorder: Recorder,
  kernels: ScanKernels,
  part: Part,
  prefixes: BufferView<'u32'>,
  exclusive: boolean,
): void {
  const { ordinal, input, output } = part
  eachKernel(kernels.tiles, part, [input, output], (kernel, first, count) =>
    dispatchBlocks(recorder, kernel, {
      device: ordinal,
      blocks: count,
      blocksPerWorkgroup: kernels.tilesPerWorkgroup,
      args: {
        input: blocked(tilesOf(input, first, count), scanTileLength),
        prefixes: blocked(prefixes.slice(first, count), 1),
        output: blocked(tilesOf(output, first, count), scanTileLength),
        exclusive: exclusive ? 1 : 0,
      },
      label: 'scan tiles',
    }),
  )
}

/** Calls `record` for the tiles that the vector kernel supports, at the beginning, and for the others. */
function eachKernel(
  { vectors, scalars }: TileKernels,
  { tiles, input }: Part,
  views: readonly BufferView[],
  record: (kernel: Kernel, first: number, count: number) => void,
): void {
  const isAligned = views.every(({ offset }) => offset % 4 === 0)
  const whole = vectors !== undefined && isAligned ? Math.floor(input.length / scanTileLength) : 0
  if (whole > 0) record(vectors!, 0, whole)
  if (whole < tiles) record(scalars, whole, tiles - whole)
}

function tilesOf(view: BufferView, first: number, count: number): BufferView {
  const start = first * scanTileLength
  return view.slice(start, Math.min(count * scanTileLength, view.length - start))
}

function partsOf({ kernels: { type }, input, output }: RecordScanOptions): Part[] {
  requireParts(input, { input: { views: input, type }, output: { views: output, type } })
  const parts: Part[] = []
  let firstTile = 0
  for (const [index, view] of input.entries()) {
    if (view.length === 0) continue
    const before = parts.at(-1)
    if (before !== undefined && before.input.length % scanTileLength !== 0)
      throw invalid(
        `Part ${input.indexOf(before.input)} of the input holds ${before.input.length} elements: every part but the last needs a multiple of ${scanTileLength}, so that the result does not depend on the parts.`,
      )
    const tiles = Math.ceil(view.length / scanTileLength)
    const { ordinal } = view.buffer.device
    parts.push({ ordinal, input: view, output: output[index]!, firstTile, tiles })
    firstTile += tiles
  }
  return parts
}
