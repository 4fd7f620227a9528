import {
  type BufferView,
  type CompileOptions,
  type DeviceGroup,
  GpuError,
  type Kernel,
  OwnedResources,
  requireOptions,
} from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import { characterOf } from '../device-character.ts'
import { requireGroup, requireNumbers } from '../option-types.ts'
import { invalid } from '../require-result.ts'
import addRowsWgsl from './add-rows.part.wgsl.ts'
import { type BinEdges, evenEdges, givenEdges, type HistogramType } from './bin-edges.ts'
import binOfWgsl from './bin-of.part.wgsl.ts'
import countStorageWgsl from './count-storage.part.wgsl.ts'
import countWorkgroupWgsl from './count-workgroup.part.wgsl.ts'

/**
 * Where elements are counted: first in workgroup memory, or only in storage. Both produce the same counts.
 */
export type HistogramVariant = 'workgroup' | 'storage'

/**
 * Words of workgroup memory for copies of the bins: the fewest into which the bins fit, which leaves room for
 * the most workgroups. (Through Vulkan on an H200, 2^26 elements in 256 bins take 164 µs with 1,024 words and
 * 374 µs with 4,096.)
 */
const workgroupWords = [1024, 4096] as const
const workgroupBins = 4096
const wordsFor = (bins: number) => workgroupWords.find((words) => bins <= words) ?? workgroupBins

/** Where a kernel counts: in this many words of workgroup memory, or in storage. */
type Counter = (typeof workgroupWords)[number] | 'storage'

/** The kernels that `compileHistogram` compiles, and the edges on every device. */
export interface HistogramKernels {
  readonly type: HistogramType
  readonly variant: HistogramVariant
  readonly bins: BinEdges
  readonly count: Kernel
  /** Adds the counts of all devices. */
  readonly addRows: Kernel
  /** The keys of the edges, by device ordinal. */
  readonly edges: readonly BufferView<'u32'>[]
  destroy(): void
}

/** Options of `compileHistogram`: `edges`, or `bins` of equal width from `low` to `high`. */
export interface CompileHistogramOptions {
  readonly type: HistogramType
  readonly bins?: number | undefined
  readonly low?: number | undefined
  readonly high?: number | undefined
  /** Ascending; one more than the number of bins. */
  readonly edges?: ArrayLike<number> | undefined
  /** Default: chosen for the devices and the number of bins. */
  readonly variant?: HistogramVariant | undefined
}

/**
 * Compiles the kernels that `recordHistogram` needs, and uploads the edges to every device. Rejects with
 * `validation` for edges that do not ascend.
 */
export async function compileHistogram(
  group: DeviceGroup,
  options: CompileHistogramOptions,
): Promise<HistogramKernels> {
  requireGroup(group)
  requireOptions(options, 'compileHistogram', {
    type: 'string',
    bins: 'number',
    low: 'number',
    high: 'number',
    edges: 'any',
    variant: ['workgroup', 'storage'],
  })
  const bins = binsOf(options)
  const { type } = options
  const count = bins.edges.length - 1
  const fits = count <= workgroupBins
  const variant = options.variant ?? (characterOf(group).fastBarriers && fits ? 'workgroup' : 'storage')
  if (variant === 'workgroup' && !fits)
    throw new GpuError(
      'too-large',
      `Workgroup memory has room for at most ${workgroupBins} bins, not ${count}.`,
    )
  const owned = new OwnedResources()
  try {
    const counter = variant === 'storage' ? variant : wordsFor(count)
    const { kernels, destroy } = await compileTerminating(group, kernelSources(type, counter))
    owned.keep({ destroy })
    const edges = await owned.keepAll(
      group.devices.map((device) =>
        device.allocate('u32', bins.keys.length, { label: `edges ${device.ordinal}`, zero: false }),
      ),
    )
    for (const view of edges) await group.queue.write(view, bins.keys)
    return { type, variant, bins, ...kernels, edges, destroy: () => owned.destroy() }
  } catch (error) {
    owned.destroy()
    throw error
  }
}

function binsOf(options: CompileHistogramOptions): BinEdges {
  const { type, bins, low, high, edges } = options
  requireNumbers('A histogram needs elements', type)
  requireRange(options)
  if (edges !== undefined) return givenEdges(type, edges)
  if (bins === undefined || low === undefined || high === undefined)
    throw invalid('A histogram needs the options bins, low and high, or the option edges.')
  return evenEdges(type, bins, low, high)
}

/** Throws `validation` if the options contradict each other. */
export function requireRange(options: Omit<CompileHistogramOptions, 'type' | 'variant'>): void {
  const { bins, low, high, edges } = options
  if ((low === undefined) !== (high === undefined))
    throw invalid('The options low and high must be set together.')
  if (edges === undefined) return
  if (typeof edges !== 'object' || edges === null || typeof edges.length !== 'number')
    throw invalid('The option edges must be an array of numbers.')
  if (bins !== undefined || low !== undefined)
    throw invalid('The option edges replaces bins, low and high and cannot be combined with them.')
}

function kernelSources(type: HistogramType, counter: Counter) {
  const [name, body] =
    counter === 'storage'
      ? [counter, countStorageWgsl]
      : [`workgroup-${counter}`, `const WORDS = ${counter}u;\n${countWorkgroupWgsl}`]
  const count: CompileOptions = {
    label: `histogram-${name} ${type}`,
    wgsl: `alias Element = ${type};\n${binOfWgsl}${body}`,
    constants: { encode_as: { u32: 0, i32: 1, f32: 2 }[type] },
    // So that ptxas keeps the address of the edges in registers (4 % for given edges on H200).
    ...(counter !== 'storage' && { workgroupsPerMultiprocessor: 8 }),
  }
  const addRows: CompileOptions = { label: 'histogram-add', wgsl: addRowsWgsl }
  return { count, addRows }
}

/** Every kernel that the histogram can use: for tests and for ahead-of-time compilation. */
export function histogramSources(): CompileOptions[] {
  const sources: CompileOptions[] = [kernelSources('u32', 'storage').addRows]
  for (const counter of ['storage', ...workgroupWords] as const)
    for (const type of ['f32', 'i32', 'u32'] as const) sources.push(kernelSources(type, counter).count)
  return sources
}

/**
 * The number of copies of the bins in which a workgroup counts; each serves a whole number of its
 * invocations.
 */
export function copiesOf(bins: number): number {
  return [8, 4, 2].find((copies) => copies * bins <= wordsFor(bins)) ?? 1
}
