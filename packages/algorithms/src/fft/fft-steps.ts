import type { CompileOptions } from '@tandem-gpu/core'
import { chirpSource, convertSource, mirrorSource, stageSource } from './generic-kernels.ts'
import { chooseLineKernel, type LineKernelShape, type LinePlace, lineSource } from './line-kernel.ts'
import {
  type ChirpMethod,
  type ComplexMethod,
  type FftLimits,
  type FftLineKind,
  type FftPass,
  type FftPlan,
  isContiguous,
  isMirrored,
  type LineMethod,
  type PackedMethod,
  type SquareMethod,
  type StagesMethod,
} from './plan-fft.ts'
import { chirpSpectrum, chirpTable, lineTable, mirrorRoots, stageFactors } from './twiddles.ts'

/** One kernel of a pass: dispatched once, over all lines of the axis on a device. */
export interface FftStep {
  readonly source: CompileOptions
  /** Computes the factors that the kernel reads: complex numbers, real part first. Absent if it reads none. */
  readonly table?: (() => Promise<Float32Array>) | undefined
  /** The number of values of a line that the kernel reads and writes, and their kinds. */
  readonly inputLength: number
  readonly outputLength: number
  readonly from: FftLineKind
  readonly to: FftLineKind
  /** Whether the kernel exchanges real and imaginary parts as it reads, and as it writes. */
  readonly exchangesInput: boolean
  readonly exchangesOutput: boolean
  readonly work: FftStepWork
}

/** How the lines of a step are divided. */
export type FftStepWork =
  | { readonly kind: 'line'; readonly shape: LineKernelShape }
  /** The columns of a square of `columns` × `rows`, with `rows` values in each column; or its rows. */
  | {
      readonly kind: 'square'
      readonly shape: LineKernelShape
      readonly side: 'columns' | 'rows'
      readonly other: number
      /** Whether the transformed values of a column are adjacent in memory. */
      readonly turns: boolean
    }
  /** Items of a line, one for each invocation; `before` is the product of the radices before a stage. */
  | { readonly kind: 'items'; readonly items: number; readonly before?: number }

/**
 * The steps of a pass, in order. The layout of lines is chosen for each step, since the first reads the
 * pass's input and the last writes its output.
 */
export function stepsOf(plan: FftPlan, pass: FftPass): FftStep[] {
  const { method, from, to } = pass
  const ends = { ...placeOf(plan, pass), from, to, limits: plan.limits }
  const inverse = plan.direction === 'inverse'
  const steps = method.kind === 'packed' ? packedSteps(method, ends) : anySteps(method, ends)
  const last = steps.length - 1
  return steps.map((step, index) => ({
    ...step,
    exchangesInput: step.exchangesInput || (inverse && index === 0),
    exchangesOutput: step.exchangesOutput || (inverse && index === last),
  }))
}

/** What some steps read and write: which values are adjacent in memory, and the kinds of lines. */
interface Ends {
  readonly input: LinePlace
  readonly output: LinePlace
  readonly from: FftLineKind
  readonly to: FftLineKind
  readonly limits: FftLimits
}

function placeOf({ shape }: FftPlan, { axis, transposes }: FftPass): Pick<Ends, 'input' | 'output'> {
  const input = isContiguous(shape, axis) ? 'lines' : 'columns'
  if (!transposes) return { input, output: input }
  // The first two axes are exchanged. If there is a third axis, the adjacent values stay the same.
  const planar = shape.slice(2).every((length) => length === 1)
  if (!planar) return { input, output: input }
  return axis === 0
    ? { input, output: 'lines' }
    : { input: 'lines', output: axis === 1 ? 'columns' : 'lines' }
}

/** Steps from real numbers to half a spectrum, or back, for lines whose numbers are paired. */
function packedSteps({ length, half }: PackedMethod, ends: Ends): FftStep[] {
  const forward = ends.from === 'real'
  const kinds = { from: 'complex', to: 'complex' } as const
  const [inputLength, outputLength] = forward ? [length / 2, length / 2 + 1] : [length / 2 + 1, length / 2]
  if (isMirrored(half))
    return [
      { ...lineStep(half, { ...ends, ...kinds }, forward ? 'last' : 'first'), inputLength, outputLength },
    ]
  const complex = anySteps(half, { ...ends, ...kinds })
  const table = () => mirrorRoots(length)
  const work = { kind: 'items', items: Math.floor(length / 4) + 1 } as const
  const mirror = { ...step({ source: mirrorSource(), table, length, work }), inputLength, outputLength }
  return forward ? [...complex, mirror] : [mirror, ...complex]
}

function anySteps(method: ComplexMethod, ends: Ends): FftStep[] {
  const { from, to } = ends
  if (method.kind === 'line') return [lineStep(method, ends)]
  if (method.kind === 'square') {
    // The kernels of squares read and write real numbers without a conversion step.
    const steps = squareSteps(method, ends)
    if (from === 'half') steps.unshift(convertStep(method.length, from, 'complex'))
    if (to === 'half') steps.push(convertStep(method.length, 'complex', to))
    return steps
  }
  return [
    ...(from === 'complex' ? [] : [convertStep(method.length, from, 'complex')]),
    ...(method.kind === 'stages' ? stageSteps(method) : chirpSteps(method)),
    ...(to === 'complex' ? [] : [convertStep(method.length, 'complex', to)]),
  ]
}

/** The number of values in a line of one kind whose whole transform has `length` values. */
export const lengthOf = (length: number, kind: FftLineKind) =>
  kind === 'half' ? Math.floor(length / 2) + 1 : length

function step(
  part: Pick<FftStep, 'source' | 'work'> & Partial<FftStep> & { readonly length: number },
): FftStep {
  const { length, from = 'complex', to = 'complex', ...rest } = part
  return {
    inputLength: lengthOf(length, from),
    outputLength: lengthOf(length, to),
    from,
    to,
    exchangesInput: false,
    exchangesOutput: false,
    ...rest,
  }
}

function lineStep(
  method: LineMethod,
  { limits, ...ends }: Ends,
  mirrors?: LineKernelShape['mirrors'],
): FftStep {
  const shape = chooseLineKernel({ method, mirrors, ...ends }, limits)
  return step({
    source: lineSource(shape),
    table: lineTable(shape).values,
    length: method.length,
    from: ends.from,
    to: ends.to,
    work: { kind: 'line', shape },
  })
}

/**
 * The columns of a square, times factors, then its rows (Bailey, FFTs in external or hierarchical memory,
 * 1990).
 */
function squareSteps(method: SquareMethod, { input, output, from, to, limits }: Ends): FftStep[] {
  const { length } = method
  // If the input has columns and the output lines, the first side transposes: it reads and stores adjacent
  // values.
  const turns = input === 'columns' && output === 'lines'
  return (['columns', 'rows'] as const).map((side) => {
    const own = method[side]
    const rows = side === 'rows'
    const kinds = {
      from: !rows && from === 'real' ? from : 'complex',
      to: rows && to === 'real' ? to : 'complex',
    } as const
    const shape = chooseLineKernel(
      {
        method: own,
        input: rows ? input : 'columns',
        output: turns && !rows ? 'lines' : 'columns',
        ...kinds,
        square: rows ? undefined : length,
      },
      limits,
    )
    const other = method[rows ? 'columns' : 'rows'].length
    return step({
      source: lineSource(shape),
      table: lineTable(shape).values,
      length,
      ...kinds,
      work: { kind: 'square', shape, side, other, turns },
    })
  })
}

/**
 * A convolution with a chirp (Bluestein, A linear filtering approach to the computation of discrete Fourier
 * transform, 1970).
 */
function chirpSteps({ length, points, stages }: ChirpMethod): FftStep[] {
  const multiply = (table: FftStep['table'], { outputLength = points, ...more }: Partial<FftStep>) => {
    const work = { kind: 'items', items: outputLength } as const
    return step({ source: chirpSource(), table, length: points, work, outputLength, ...more })
  }
  const wave = () => chirpTable(length)
  const transform = stageSteps(stages)
  return [
    multiply(wave, { inputLength: length }),
    ...transform,
    // The inverse transform is a forward one between two exchanges of real and imaginary parts.
    multiply(() => chirpSpectrum(length, points), { exchangesOutput: true }),
    ...transform,
    multiply(wave, { inputLength: length, outputLength: length, exchangesInput: true }),
  ]
}

/** Stockham's algorithm, one stage in each step. */
function stageSteps({ length, radices }: StagesMethod): FftStep[] {
  let before = 1
  return radices.map((radix) => {
    const work = { kind: 'items', items: length / radix, before } as const
    const table = () => stageFactors(radix, work.before)
    before *= radix
    return step({ source: stageSource(radix), table, length, work })
  })
}

function convertStep(length: number, from: FftLineKind, to: FftLineKind): FftStep {
  const work = { kind: 'items', items: length } as const
  return step({ source: convertSource(from, to), length, from, to, work })
}
