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
  if (isMirrored(half)) {
    const mirrors = forward ? 'last' : 'first'
    const shape = chooseLineKernel({ method: half, mirrors, ...ends, ...kinds }, ends.limits)
    return [{ ...lineStep(shape, half.length, { kind: 'line', shape }), inputLength, outputLength }]
  }
  const complex = anySteps(half, { ...ends, ...kinds })
  const table = () => mirrorRoots(length)
  const work = { kind: 'items', items: Math.floor(length / 4) + 1 } as const
  const mirror = { ...step({ source: mirrorSource(), table, length, work }), inputLength, outputLength }
  return forward ? [...complex, mirror] : [mirror, ...complex]
}

function anySteps(method: ComplexMethod, ends: Ends): FftStep[] {
  const { from, to, limits } = ends
  const { kind, length } = method
  if (kind === 'line') {
    const shape = chooseLineKernel({ method, ...ends }, limits)
    return [lineStep(shape, length, { kind, shape })]
  }
  // The kernels of squares read and write real numbers without a conversion step.
  const converts = (own: FftLineKind) => own === 'half' || (own === 'real' && kind !== 'square')
  return [
    ...(converts(from) ? [convertStep(length, from, 'complex')] : []),
    ...(kind === 'square'
      ? squareSteps(method, ends)
      : kind === 'stages'
        ? stageSteps(method)
        : chirpSteps(method)),
    ...(converts(to) ? [convertStep(length, 'complex', to)] : []),
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

function lineStep(shape: LineKernelShape, length: number, work: FftStepWork): FftStep {
  const { from, to } = shape
  return step({ source: lineSource(shape), table: lineTable(shape).values, length, from, to, work })
}

/**
 * The columns of a square, times factors, then its rows (Bailey, FFTs in external or hierarchical memory,
 * 1990).
 */
function squareSteps({ length, columns, rows }: SquareMethod, ends: Ends): FftStep[] {
  const { input, output, limits } = ends
  const [from, to] = [ends.from, ends.to].map((kind) => (kind === 'real' ? kind : 'complex'))
  // If the input has columns and the output lines, the first side transposes: it reads and stores adjacent
  // values.
  const turns = input === 'columns' && output === 'lines'
  const first = chooseLineKernel(
    {
      ...{ method: columns, input: 'columns', output: turns ? 'lines' : 'columns' },
      ...{ from: from!, to: 'complex', square: length },
    },
    limits,
  )
  const second = chooseLineKernel(
    { method: rows, input, output: 'columns', from: 'complex', to: to! },
    limits,
  )
  return [
    lineStep(first, length, { kind: 'square', shape: first, side: 'columns', other: rows.length, turns }),
    lineStep(second, length, { kind: 'square', shape: second, side: 'rows', other: columns.length, turns }),
  ]
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
