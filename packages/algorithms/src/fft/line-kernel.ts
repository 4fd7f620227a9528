import type { CompileOptions } from '@tandem-gpu/core'
import { invalid } from '../require-result.ts'
import { sectionsOf } from '../sections.ts'
import butterfliesWgsl from './butterflies.part.wgsl.ts'
import complex from './complex.part.wgsl.ts'
import exchangesWgsl from './exchanges.part.wgsl.ts'
import type { Radix } from './factors.ts'
import lineWgsl from './line.part.wgsl.ts'
import loadsWgsl from './loads.part.wgsl.ts'
import mirror from './mirror.part.wgsl.ts'
import {
  type FftLimits,
  type FftLineKind,
  fewestColumns,
  lineThreads,
  productOf,
  type StagedMethod,
  tileByteLength,
} from './plan-fft.ts'
import pointsWgsl from './points.part.wgsl.ts'
import { radixParts } from './radix-parts.ts'
import { root } from './roots.ts'
import storesWgsl from './stores.part.wgsl.ts'
import {
  chirpSpectrum,
  chirpTable,
  mirrorRoots,
  rootTable,
  stageFactorCount,
  stageFactors,
  type Table,
} from './twiddles.ts'

/** How kernels read and write the values of lines, by kind. */
export const loads = sectionsOf<FftLineKind>(loadsWgsl)
export const stores = sectionsOf<FftLineKind>(storesWgsl)
const pointParts = sectionsOf<'plain' | 'chirp' | 'factor'>(pointsWgsl)
const lineParts = sectionsOf<'params' | 'load' | 'butterflies' | 'convolve' | 'store'>(lineWgsl)
const butterflies = sectionsOf<'first' | 'factors' | 'products' | 'mirror'>(butterfliesWgsl)
const exchanges = sectionsOf<'first' | 'send' | 'sendRows' | 'sendMirror' | 'receive' | 'receiveRows'>(
  exchangesWgsl,
)

/**
 * Which values that neighbouring invocations access are adjacent in memory: those of one line, or those of
 * neighbouring lines.
 */
export type LinePlace = 'lines' | 'columns'

/** What a kernel does, and the limits of the devices. */
interface LineKernelPart {
  readonly method: StagedMethod
  readonly input: LinePlace
  readonly output: LinePlace
  readonly from: FftLineKind
  readonly to: FftLineKind
  /** The length of the whole line if this kernel transforms the columns of its square. */
  readonly square?: number | undefined
  /**
   * For real numbers in pairs: whether half a spectrum is made complex before the first stage, or made from
   * the complex values after the last one.
   */
  readonly mirrors?: 'first' | 'last' | undefined
  readonly limits: FftLimits
}

/** Everything that determines the source of a kernel. */
export interface LineKernelShape extends Omit<LineKernelPart, 'limits'> {
  /** Lines per workgroup, and invocations per line. */
  readonly lines: number
  readonly threads: number
  /**
   * Whether values go through workgroup memory as pairs, or as real parts first and imaginary parts after
   * them, which needs half the memory.
   */
  readonly exchange: 'pairs' | 'halves'
}

/**
 * The sufficient workgroup size in invocations. Smaller for convolutions, whose registers leave room for
 * fewer workgroups, and for values in halves (on an H200 through Vulkan, 1.24 times as fast for lines of
 * 1024) and real numbers in pairs (on an H200, up to 1.08 times as fast).
 */
const enoughInvocations = 256
const enoughOfFewer = 64
/**
 * Kernels of more values, and convolutions, read some factors and multiply them for the others: their tables
 * do not stay in the first-level cache (on an H200, 1.11 times as fast for 6561, 1.05 for 8192 and 509).
 */
const mostWithAllFactors = 4096
/**
 * With less workgroup memory, values go through it in halves, so that more workgroups share a multiprocessor
 * (on an H200 through Vulkan, which offers 48 KiB, 1.2 to 1.4 times as fast for lines of 64 to 4096).
 */
const roomForPairs = 65_536
/**
 * The number of workgroups of convolutions with 256 invocations that share a multiprocessor (on an H200, 1.18
 * times as fast for 2039).
 */
const convolutionsTogether = 3
/** The number of columns that span 128 bytes. */
const goodColumns = 16

/** The kernel for a method on devices of these limits. Only the speed depends on the choice. */
export function chooseLineKernel({ limits, ...part }: LineKernelPart): LineKernelShape {
  const { points, radices } = part.method
  const strided = part.input === 'columns' || part.output === 'columns'
  const room = limits.workgroupMemoryByteLength
  const most = limits.workgroupInvocations
  const tile = (lines: number, exchange: LineKernelShape['exchange']) =>
    tileByteLength(
      points,
      radices,
      lines + (part.input === 'columns' && part.output === 'lines' ? 1 : 0),
      exchange === 'pairs' ? 8 : 4,
      part.mirrors !== undefined,
    )
  const exchanges = ['pairs', 'halves'] as const
  // On strided axes, a workgroup transforms enough columns for full memory transactions; on contiguous axes,
  // enough lines to fill a workgroup.
  if (strided) {
    for (let lines = points <= 128 ? 2 * goodColumns : goodColumns; lines >= fewestColumns; lines /= 2)
      for (const exchange of exchanges) {
        const threads = lineThreads(points, radices, Math.floor(most / lines), 'few')
        if (threads === undefined || tile(lines, exchange) > Math.min(room, mostColumnBytes)) continue
        return { ...part, lines, threads, exchange }
      }
  } else {
    for (const exchange of room < roomForPairs ? (['halves'] as const) : exchanges) {
      const isSmall = part.method.convolves || exchange === 'halves' || part.mirrors !== undefined
      const enough = isSmall ? enoughOfFewer : enoughInvocations
      const threads = lineThreads(points, radices, most, 'many')
      if (threads === undefined || tile(1, exchange) > room) continue
      let lines = 1
      while (2 * lines * threads <= Math.min(most, enough) && tile(2 * lines, exchange) <= room) lines *= 2
      return { ...part, lines, threads, exchange }
    }
  }
  throw invalid(`A workgroup within these limits has no room for lines of ${points} values.`)
}

/** The maximum workgroup memory of a group of columns, so that at least two groups share a multiprocessor. */
const mostColumnBytes = 81_920

/** The number of low bits of k · n that select the first of the two factors of a square. */
function lowBits(length: number): number {
  return Math.ceil(Math.log2(length) / 2)
}

/**
 * The stages of a kernel, with the products of the radices before them (a convolution repeats all in reverse
 * order), the offsets of the parts of its table in complex numbers, and what computes the table, unless it is
 * empty.
 */
export function lineTable({
  method: { length, points, radices, convolves },
  square,
  mirrors,
}: LineKernelShape) {
  let end = 0
  const parts: { at: number; values: () => Table }[] = []
  const place = (count: number, values: () => Table) => {
    parts.push({ at: end, values })
    end += count
    return end - count
  }
  const stagesOf = (own: readonly Radix[]) =>
    own.map((radix, stage) => {
      const before = productOf(own.slice(0, stage))
      const table = place(stageFactorCount(radix, before), () => stageFactors(radix, before))
      return { radix, before, table }
    })
  const stages = [...stagesOf(radices), ...(convolves ? stagesOf(radices.toReversed()) : [])]
  const [chirp, spectrum] = convolves
    ? [place(length, () => chirpTable(length)), place(points, () => chirpSpectrum(length, points))]
    : [0, 0]
  // exp(−2πi · m / square) for the low bits of m, and for the remaining bits.
  const lows = square === undefined ? 0 : 2 ** lowBits(square)
  const highs = square === undefined ? 0 : Math.ceil(square / lows)
  const low = place(lows, () => rootTable(lows, (m) => root(m, square!)))
  const high = place(highs, () => rootTable(highs, (m) => root(m * lows, square!)))
  const mirror = mirrors ? place(Math.floor(length / 2) + 1, () => mirrorRoots(2 * length)) : 0
  const values = async () => {
    const all = new Float32Array(2 * end)
    for (const part of parts) all.set(await part.values(), 2 * part.at)
    return all
  }
  return { stages, chirp, spectrum, low, high, mirror, values: end > 0 ? values : undefined }
}

/** The source of a kernel. */
export function lineSource(shape: LineKernelShape): CompileOptions {
  const { method, input, output, from, to, square, mirrors, lines, threads, exchange } = shape
  const { length, points, convolves } = method
  const middle = method.radices.length
  const table = lineTable(shape)
  const stageOf = (
    it: (typeof table.stages)[number],
    place: LinePlace,
    butterflies: number,
    mirrors: boolean,
  ) => {
    // Invocations of other stages than those with the adjacency of the input are numbered anew.
    const own = input === 'lines' ? ['local.x', 'local.y'] : ['local.y', 'local.x']
    const remapped =
      place === 'columns'
        ? [`invocation / ${lines}u`, `invocation % ${lines}u`]
        : [`invocation % ${threads}u`, `invocation / ${threads}u`]
    const [thread, line] = (place === input ? own : remapped) as [string, string]
    const whole = butterflies % threads === 0
    return { ...it, butterflies, count: Math.ceil(butterflies / threads), thread, line, whole, mirrors }
  }
  type Stage = ReturnType<typeof stageOf>
  // Before the last stage, invocations change to the adjacency of the output.
  const stages = table.stages.map((it, stage, all) =>
    stageOf(it, stage === all.length - 1 && stage > 0 ? output : input, points / it.radix, false),
  )
  // The stages that exchange values with the first and the last one have the numbers that these get here.
  const first = mirrors === 'first' ? 1 : 0
  if (mirrors !== undefined) {
    const stage = { radix: 2, before: 1, table: table.mirror } as const
    stages.splice(first === 1 ? 0 : stages.length, 0, stageOf(stage, input, Math.floor(points / 2) + 1, true))
  }
  const last = stages.length - 1
  const isProduct = ({ radix, before }: Stage) =>
    (convolves || points > mostWithAllFactors) && before > 1 && splitOf(radix) > 1
  const row = method.radices[0]!
  const padding = input === 'lines' || lines < goodColumns ? 1 : 0
  const rows =
    points / row +
    (mirrors === undefined ? 0 : 1) +
    (input === 'lines' && output === 'columns' ? shiftingRows(points / row, row + 1, lines) : 0)
  const across = input === 'columns' && output === 'lines' ? lines + 1 : lines
  const type = exchange === 'pairs' ? 'Complex' : 'f32'
  const extents = input === 'lines' ? [row + padding, rows, across] : [across, row + padding, rows]
  const tile = extents.reduce((inner, extent) => `array<${inner}, ${extent}>`, type)

  /** Names that end in `suffix` become those of stage `at`. */
  const named = (at: number, suffix: string, text: string) => {
    const it = stages[at]
    if (it === undefined) return text
    const { thread, line, whole } = it
    const all = (pattern: string) => new RegExp(`\\b${pattern.replace('_', suffix)}`, 'g')
    return text
      .replace(all('TILE_\\((.*?), (.*?)\\)'), (_, high: string, low: string) =>
        input === 'lines' ? `tile[${line}][${high}][${low}]` : `tile[${high}][${low}][${line}]`,
      )
      .replace(all('INDEX_\\((.*)\\)'), whole ? '$1' : `min($1, BUTTERFLIES_${at} - 1u)`)
      .replace(all('IF_ (\\(.*?\\) )'), whole ? '' : 'if $1')
      .replace(
        all('PLACE_\\(j, i\\)'),
        it.mirrors ? 'select(j, LENGTH - j, i > 0u)' : `j + i * BUTTERFLIES_${at}`,
      )
      .replace(all('THREAD_\\b'), thread)
      .replace(all('LINE_\\b'), line)
      .replace(all('DFT_\\b'), `dft_${it.radix}`)
      .replace(all('(\\w+)_\\b'), `$1_${at}`)
  }
  const template = (text: string, stage: number, part = '') =>
    named(stage, '_s', named(stage - 1, '_p', text))
      .replaceAll('.PART', part)
      .replaceAll('ROW', `${row}u`)
  const butterflyOf = (it: Stage) => {
    if (it.mirrors) return butterflies.mirror
    return butterflies[it.before === 1 ? 'first' : isProduct(it) ? 'products' : 'factors']
  }
  const compute = (stage: number) =>
    template(lineParts.butterflies, stage) +
    (convolves && stage === middle - 1 ? template(lineParts.convolve, stage) : '')
  const barrier = '  workgroupBarrier();\n'
  const body: string[] = [template(lineParts.load, 0), compute(0)]
  for (let stage = 1; stage <= last; stage++) {
    const { radix, count, butterflies: own, mirrors } = stages[stage]!
    const sender = stages[stage - 1]!
    if (convolves && stage === middle) {
      // The inverse transform begins with the radix with which the forward transform ends, so its values are
      // already where they are needed.
      body.push(template('  var x_s = x_p;\n', stage), compute(stage))
      continue
    }
    body.push(`  var x_${stage}: array<array<Complex, ${radix}>, ${count}>;\n`)
    for (const [turn, part] of (exchange === 'pairs' ? [''] : ['.x', '.y']).entries()) {
      if (stage > 1 || turn > 0) body.push(barrier)
      const inOrder = sender.before % row === 0 ? 'sendRows' : 'send'
      const send = sender.mirrors ? 'sendMirror' : stage - 1 === first ? 'first' : inOrder
      body.push(template(exchanges[send], stage, part), barrier)
      const inRows = own % row === 0 && !mirrors
      body.push(template(exchanges[inRows ? 'receiveRows' : 'receive'], stage, part))
    }
    body.push(compute(stage))
  }
  body.push(template(lineParts.store, last))

  const valuesOf = ({ radix, butterflies, mirrors }: Stage) =>
    mirrors ? radix : Math.ceil(length / butterflies)
  const constants = {
    LENGTH: length,
    LINES: lines,
    THREADS: threads,
    INPUTS: valuesOf(stages[0]!),
    OUTPUTS: valuesOf(stages[last]!),
    WIDTH: input === 'lines' ? threads : lines,
    HEIGHT: input === 'lines' ? lines : threads,
    ...(convolves && { CHIRP: table.chirp, SPECTRUM: table.spectrum }),
    ...(square !== undefined && { LOW: table.low, LOW_BITS: lowBits(square), HIGH: table.high }),
  }
  const ofStage = (it: Stage) => ({
    RADIX: it.radix,
    ...(isProduct(it) && { SPLIT: splitOf(it.radix) }),
    BEFORE: it.before,
    BUTTERFLIES: it.butterflies,
    COUNT: it.count,
    TABLE: it.table,
  })
  const declared = (values: Readonly<Record<string, number>>, suffix = '') =>
    Object.entries(values).map(([name, value]) => `const ${name}${suffix} = ${value}u;`)
  const step = (place: LinePlace, side: string) => (place === 'lines' ? '1u' : `params.${side}_step`)
  return {
    label: lineLabel(shape),
    // Every index is derived from the numbers of lines, groups and values, which the host sets. Bounds checks
    // would need more registers (108 instead of 73 for the chirp of 2039), so fewer workgroups would share a
    // multiprocessor.
    bounds: 'unchecked',
    ...(convolves && lines * threads === 256 && { workgroupsPerMultiprocessor: convolutionsTogether }),
    wgsl: [
      complex,
      ...radixParts(method.radices),
      lineParts.params,
      ...declared(constants),
      ...stages.flatMap((it, stage) => declared(ofStage(it), `_${stage}`)),
      last > 0 ? `var<workgroup> tile: ${tile};\n` : '',
      loads[from].replaceAll('INPUT_STEP', step(input, 'input')),
      stores[to].replaceAll('OUTPUT_STEP', step(output, 'output')),
      pointParts[convolves ? 'chirp' : square === undefined ? 'plain' : 'factor'],
      ...(mirrors === undefined ? [] : [mirror]),
      ...stages.map((it, stage) => template(butterflyOf(it), stage)),
      ...body,
    ].join('\n'),
  }
}

/**
 * The largest divisor up to the square root: the number of factors of a butterfly that are read one by one.
 */
function splitOf(radix: Radix): number {
  let split = Math.floor(Math.sqrt(radix))
  while (radix % split > 0) split--
  return split
}

/**
 * The number of rows to add to each line of a tile, so that neighbouring lines begin in banks that are as far
 * apart as possible among 16.
 */
function shiftingRows(rows: number, pitch: number, lines: number): number {
  const wanted = Math.max(1, Math.floor(16 / lines))
  for (let more = 0; more < 16; more++) if (((rows + more) * pitch) % 16 === wanted) return more
  return 0
}

function lineLabel(shape: LineKernelShape): string {
  const { method, input, output, from, to, square, mirrors, lines, threads, exchange } = shape
  const { length, radices, convolves } = method
  const isComplex = from === 'complex' && to === 'complex'
  const kinds = mirrors ? ` mirrored ${mirrors}` : isComplex ? '' : ` ${from} to ${to}`
  const way = input === output ? input : `${input} to ${output}`
  const side = square === undefined ? '' : ` of ${square}`
  const what = convolves ? `chirp ${length} by ${radices.join('·')}` : radices.join('·')
  return `fft ${what}${side} ${way}${kinds}, ${lines} × ${threads} ${exchange}`
}
