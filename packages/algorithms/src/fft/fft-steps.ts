import type { CompileOptions } from '@tandem-gpu/core'
import { chirpSource, convertSource, mirrorSource, stageSource } from './generic-kernels.ts'
import {
  chooseLineKernel,
  type LineKernelShape,
  type LinePlace,
  lineSource,
  lineTable,
} from './line-kernel.ts'
import {
  type ComplexMethod,
  type FftLimits,
  type FftLineKind,
  type FftPass,
  type FftPlan,
  isContiguous,
  isMirrored,
  lengthOf,
  type PackedMethod,
  type SquareMethod,
  type StagedMethod,
} from './plan-fft.ts'
import { chirpSpectrum, chirpTable, mirrorRoots, stageFactors } from './twiddles.ts'

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
  | { readonly kind: 'line'; readonly shape: LineKernelShape; readonly square?: SquareSide }
  /** Items of a line, one for each invocation; `before` is the product of the radices before a stage. */
  | { readonly kind: 'items'; readonly items: number; readonly before?: number }

/** The lines are the columns of a square of each line, or its rows. */
export interface SquareSide {
  readonly side: 'columns' | 'rows'
  /** The number of these lines: the length of the other side. */
  readonly other: number
  /** Whether the transformed values of a column are adjacent in memory. */
  readonly turns: boolean
}

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
  const complex = { ...ends, from: 'complex', to: 'complex' } as const
  const [inputLength, outputLength] = forward ? [length / 2, length / 2 + 1] : [length / 2 + 1, length / 2]
  if (isMirrored(half)) {
    const mirrors = forward ? 'last' : 'first'
    const shape = chooseLineKernel({ method: half, mirrors, ...complex })
    return [{ ...lineStep(shape, half.length), inputLength, outputLength }]
  }
  const work = { kind: 'items', items: Math.floor(length / 4) + 1 } as const
  const mirror = step(mirrorSource(), work, { table: () => mirrorRoots(length), inputLength, outputLength })
  const steps = anySteps(half, complex)
  return forward ? [...steps, mirror] : [mirror, ...steps]
}

function anySteps(method: ComplexMethod, ends: Ends): FftStep[] {
  const { from, to } = ends
  const { length } = method
  if (method.kind === 'line') return [lineStep(chooseLineKernel({ method, ...ends }), length)]
  // The kernels of squares read and write real numbers without a conversion step.
  const converted = (own: FftLineKind, from: FftLineKind, to: FftLineKind) =>
    own === 'half' || (own === 'real' && method.kind !== 'square')
      ? [step(convertSource(from, to), { kind: 'items', items: length }, { length, from, to })]
      : []
  return [
    ...converted(from, from, 'complex'),
    ...(method.kind === 'square'
      ? squareSteps(method, ends)
      : method.convolves
        ? chirpSteps(method)
        : stageSteps(method)),
    ...converted(to, 'complex', to),
  ]
}

function step(
  source: CompileOptions,
  work: FftStepWork,
  { length = 0, from = 'complex', to = 'complex', ...more }: Partial<FftStep> & { readonly length?: number },
): FftStep {
  const [inputLength, outputLength] = [lengthOf(length, from), lengthOf(length, to)]
  const exchanges = { exchangesInput: false, exchangesOutput: false }
  return { source, work, inputLength, outputLength, from, to, ...exchanges, ...more }
}

function lineStep(shape: LineKernelShape, length: number, square?: SquareSide): FftStep {
  const { from, to } = shape
  const work = { kind: 'line', shape, ...(square && { square }) } as const
  return step(lineSource(shape), work, { table: lineTable(shape).values, length, from, to })
}

/**
 * The columns of a square, times factors, then its rows (Bailey, FFTs in external or hierarchical memory,
 * 1990).
 */
function squareSteps({ length, columns, rows }: SquareMethod, { input, output, limits, ...ends }: Ends) {
  const [from, to] = [ends.from, ends.to].map((kind) => (kind === 'real' ? kind : 'complex')) as FftLineKind[]
  // If the input has columns and the output lines, the first side transposes: it reads and stores adjacent
  // values.
  const turns = input === 'columns' && output === 'lines'
  const first = chooseLineKernel({
    ...{ method: columns, input: 'columns', output: turns ? 'lines' : 'columns' },
    ...{ from: from!, to: 'complex', square: length, limits },
  })
  const second = chooseLineKernel({
    ...{ method: rows, input, output: 'columns', from: 'complex', to: to!, limits },
  })
  return [
    lineStep(first, length, { side: 'columns', other: rows.length, turns }),
    lineStep(second, length, { side: 'rows', other: columns.length, turns }),
  ]
}

/**
 * A convolution with a chirp (Bluestein, A linear filtering approach to the computation of discrete Fourier
 * transform, 1970).
 */
function chirpSteps(method: StagedMethod): FftStep[] {
  const { length, points } = method
  const multiply = (
    table: FftStep['table'],
    inputLength: number,
    outputLength: number,
    more: Partial<FftStep> = {},
  ) =>
    step(chirpSource(), { kind: 'items', items: outputLength }, { table, inputLength, outputLength, ...more })
  const wave = () => chirpTable(length)
  const transform = stageSteps(method)
  return [
    multiply(wave, length, points),
    ...transform,
    // The inverse transform is a forward one between two exchanges of real and imaginary parts.
    multiply(() => chirpSpectrum(length, points), points, points, { exchangesOutput: true }),
    ...transform,
    multiply(wave, length, length, { exchangesInput: true }),
  ]
}

/** Stockham's algorithm, one stage in each step. */
function stageSteps({ points, radices }: StagedMethod): FftStep[] {
  let before = 1
  return radices.map((radix) => {
    const work = { kind: 'items', items: points / radix, before } as const
    before *= radix
    return step(stageSource(radix), work, { table: () => stageFactors(radix, work.before), length: points })
  })
}
