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
import { type ScanKernels, scanTileLength, tilesPerSuperGroup } from './scan-kernels.ts'

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
      dispatchTiles(recorder, kernels, 'sums', part, { input: part.input }, { sums: local })
      if (local !== place) recorder.copy(local, place, { label: 'gather sums' })
    }
    if (recorder.touches(home)) recordPrefixes(recorder, kernels, home, prefixes)
  }

  // Scan: the elements of each tile, starting from that sum.
  for (const { part, place, local } of own) {
    if (local !== place) recorder.copy(place, local, { label: 'spread prefixes' })
    const { input, output } = part
    dispatchTiles(recorder, kernels, 'tiles', part, { input, output }, { prefixes: local }, exclusive)
  }
}

/** A part, its place among the prefixes of all, and the memory in which its device reads and writes them. */
interface Placed {
  readonly part: Part
  readonly place: BufferView<'u32'>
  readonly local: BufferView<'u32'>
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

/**
 * Runs the vector kernel for the tiles that it supports, at the beginning, and the other for the rest.
 * `numbers` has one for each tile.
 */
function dispatchTiles(
  recorder: Recorder,
  kernels: ScanKernels,
  step: 'sums' | 'tiles',
  { ordinal, tiles, input }: Part,
  elements: Readonly<Record<string, BufferView>>,
  numbers: Readonly<Record<string, BufferView>>,
  exclusive?: boolean,
): void {
  const { vectors, scalars } = kernels[step]
  const isAligned = Object.values(elements).every(({ offset }) => offset % 4 === 0)
  const whole = vectors !== undefined && isAligned ? Math.floor(input.length / scanTileLength) : 0
  const dispatch = (kernel: Kernel, first: number, end: number) => {
    const divided = (views: Readonly<Record<string, BufferView>>, each: number) =>
      Object.entries(views).map(([name, view]) => {
        const [start, stop] = [first * each, Math.min(end * each, view.length)]
        return [name, blocked(view.slice(start, stop - start), each)] as const
      })
    const args = Object.fromEntries([...divided(elements, scanTileLength), ...divided(numbers, 1)])
    dispatchBlocks(recorder, kernel, {
      ...{ device: ordinal, blocks: end - first, blocksPerWorkgroup: kernels.tilesPerWorkgroup },
      args: { ...args, ...(exclusive !== undefined && { exclusive: exclusive ? 1 : 0 }) },
      label: step === 'sums' ? 'sum tiles' : 'scan tiles',
    })
  }
  if (whole > 0) dispatch(vectors!, 0, whole)
  if (whole < tiles) dispatch(scalars, whole, tiles)
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
