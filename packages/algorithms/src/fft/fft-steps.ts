import type { CompileOptions } from '@tandem-gpu/core'
import { chirpSource, convertSource, packedSource, stageSource } from './generic-kernels.ts'
import { chooseLineKernel, type LineKernelShape, type LinePlace, lineSource } from './line-kernel.ts'
import {
  type ComplexMethod,
  type FftLineKind,
  type FftPass,
  type FftPlan,
  isContiguous,
  type LineMethod,
  type PackedMethod,
  type StagesMethod,
} from './plan-fft.ts'
import { root } from './roots.ts'
import { chirpSpectrum, chirpTable, lineTable, stageFactors } from './twiddles.ts'

/** One kernel of a pass: dispatched once, over all lines of the axis on a device. */
export interface FftStep {
  readonly source: CompileOptions
  /** The factors that the kernel reads: complex numbers, real part first. */
  readonly table: readonly number[]
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
  | { readonly kind: 'stage'; readonly radix: number; readonly before: number }
  | { readonly kind: 'multiply' }
  | { readonly kind: 'convert' }

/**
 * The steps of a pass, in order. The layout of lines is chosen for each step, since the first reads the
 * pass's input and the last writes its output.
 */
export function stepsOf(plan: FftPlan, pass: FftPass): FftStep[] {
  const { method, from, to } = pass
  const place = placeOf(plan, pass)
  const inverse = plan.direction === 'inverse'
  const steps =
    method.kind === 'packed'
      ? packedSteps(plan, method, place, from)
      : anySteps(plan, method, place, from, to)
  const last = steps.length - 1
  return steps.map((step, index) => ({
    ...step,
    exchangesInput: step.exchangesInput || (inverse && index === 0),
    exchangesOutput: step.exchangesOutput || (inverse && index === last),
  }))
}

/** Steps from real numbers to half a spectrum, or back, for lines whose numbers are paired. */
function packedSteps(
  plan: FftPlan,
  { length, half }: PackedMethod,
  place: PassPlace,
  from: FftLineKind,
): FftStep[] {
  const complex = anySteps(plan, half, place, 'complex', 'complex')
  const direction = from === 'real' ? 'unpack' : 'pack'
  const table = Array.from({ length: length / 2 + 1 }, (_, k) => root(k, length)).flat()
  const work = { kind: 'convert' } as const
  const own = step({ source: packedSource(direction), table, length, work })
  return direction === 'unpack'
    ? [...complex, { ...own, inputLength: length / 2, outputLength: length / 2 + 1 }]
    : [{ ...own, inputLength: length / 2 + 1, outputLength: length / 2 }, ...complex]
}

function anySteps(
  plan: FftPlan,
  method: ComplexMethod,
  place: PassPlace,
  from: FftLineKind,
  to: FftLineKind,
): FftStep[] {
  if (method.kind === 'line') return [lineStep(plan, method, place, from, to)]
  const steps = complexSteps(plan, method, place, from, to)
  // The kernels of squares read and write real numbers without a conversion step.
  const kinds = method.kind === 'square' ? ['complex', 'real'] : ['complex']
  if (!kinds.includes(from)) steps.unshift(convertStep(method.length, from, 'complex'))
  if (!kinds.includes(to)) steps.push(convertStep(method.length, 'complex', to))
  return steps
}

/** Which values are adjacent in memory, in a pass's input and in its output. */
interface PassPlace {
  readonly input: LinePlace
  readonly output: LinePlace
}

function placeOf({ shape }: FftPlan, { axis, transposes }: FftPass): PassPlace {
  const input = isContiguous(shape, axis) ? 'lines' : 'columns'
  if (!transposes) return { input, output: input }
  // The first two axes are exchanged. If there is a third axis, the adjacent values stay the same.
  const planar = shape.slice(2).every((length) => length === 1)
  if (!planar) return { input, output: input }
  return axis === 0
    ? { input, output: 'lines' }
    : { input: 'lines', output: axis === 1 ? 'columns' : 'lines' }
}

/** The number of values in a line of one kind whose whole transform has `length` values. */
export const lengthOf = (length: number, kind: FftLineKind) =>
  kind === 'half' ? Math.floor(length / 2) + 1 : length

function step(
  part: Pick<FftStep, 'source' | 'work'> & Partial<FftStep> & { readonly length: number },
): FftStep {
  const { length, from = 'complex', to = 'complex', ...rest } = part
  return {
    table: [],
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
  { limits }: FftPlan,
  method: LineMethod,
  place: PassPlace,
  from: FftLineKind,
  to: FftLineKind,
): FftStep {
  const shape = chooseLineKernel({ method, ...place, from, to }, limits)
  const table = lineTable(method, undefined).values
  return step({
    source: lineSource(shape),
    table,
    length: method.length,
    from,
    to,
    work: { kind: 'line', shape },
  })
}

function complexSteps(
  plan: FftPlan,
  method: Exclude<ComplexMethod, LineMethod>,
  place: PassPlace,
  from: FftLineKind,
  to: FftLineKind,
): FftStep[] {
  if (method.kind === 'stages') return stageSteps(method)
  const { length } = method
  if (method.kind === 'square') {
    // If the input has columns and the output lines, the first side transposes: it reads and stores adjacent
    // values.
    const turns = place.input === 'columns' && place.output === 'lines'
    return (['columns', 'rows'] as const).map((side) => {
      const one = method[side]
      const rows = side === 'rows'
      const kinds = {
        from: !rows && from === 'real' ? from : 'complex',
        to: rows && to === 'real' ? to : 'complex',
      } as const
      const shape = chooseLineKernel(
        {
          method: one,
          input: rows ? place.input : 'columns',
          output: turns && !rows ? 'lines' : 'columns',
          ...kinds,
          square: rows ? undefined : length,
        },
        plan.limits,
      )
      const table = lineTable(one, shape.square).values
      const other = method[rows ? 'columns' : 'rows'].length
      return step({
        source: lineSource(shape),
        table,
        length,
        ...kinds,
        work: { kind: 'square', shape, side, other, turns },
      })
    })
  }
  const { points, stages } = method
  const multiply = (table: readonly number[], lengths: Partial<FftStep>) =>
    step({ source: chirpSource(), table, length: points, work: { kind: 'multiply' }, ...lengths })
  const wave = chirpTable(length)
  return [
    multiply(wave, { inputLength: length }),
    ...stageSteps(stages),
    // The inverse transform is a forward one between two exchanges of real and imaginary parts.
    multiply(chirpSpectrum(length, points), { exchangesOutput: true }),
    ...stageSteps(stages),
    multiply(wave, { inputLength: length, outputLength: length, exchangesInput: true }),
  ]
}

function stageSteps({ length, radices }: StagesMethod): FftStep[] {
  let before = 1
  return radices.map((radix) => {
    const table = stageFactors(radix, before)
    const work = { kind: 'stage', radix, before } as const
    before *= radix
    return step({ source: stageSource(radix), table, length, work })
  })
}

function convertStep(length: number, from: FftLineKind, to: FftLineKind): FftStep {
  return step({ source: convertSource(from, to), length, from, to, work: { kind: 'convert' } })
}
