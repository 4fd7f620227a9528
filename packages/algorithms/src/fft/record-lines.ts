import { type BufferView, foldWorkgroups, GpuError, type Recorder, ranges } from '@tandem-gpu/core'
import type { CompiledPass, CompiledStep } from './compile-fft.ts'
import { genericInvocations } from './generic-kernels.ts'
import type { FftLineKind } from './plan-fft.ts'

/**
 * The lines along one axis of an array: their number, the distance between them, and the distance between
 * their values, in values.
 */
export interface Lines {
  readonly outer: number
  readonly inner: number
  readonly input: LineStrides
  readonly output: LineStrides
}

/** The distances from one line, or from one value of a line, to the next. */
export interface LineStrides {
  readonly outer: number
  readonly inner: number
  readonly step: number
}

/**
 * A step on one device: `step` applied to `lines`, whose strides are those of the step's own input and
 * output.
 */
export interface LineWork {
  readonly step: CompiledStep
  readonly lines: Lines
  /** The factor by which every value that the step writes is multiplied. */
  readonly scale: number
  /** The number of f32 numbers from the first to the last that the step writes. */
  readonly outputLength: number
}

const numbersOf = (kind: FftLineKind) => (kind === 'real' ? 1 : 2)

/** The number of values from the first to the last of all lines of `length`. */
const span = ({ outer, inner }: Pick<Lines, 'outer' | 'inner'>, strides: LineStrides, length: number) =>
  (outer - 1) * strides.outer + (inner - 1) * strides.inner + (length - 1) * strides.step + 1

/**
 * The steps of a pass as work on `lines`. Between steps, lines of complex numbers are dense, in the layout of
 * the input or of a transposed square.
 */
export function workOf({ steps, from, to }: CompiledPass, lines: Lines, scale: number): LineWork[] {
  const { outer, inner } = lines
  const after = (step: CompiledStep): LineStrides => {
    const { outputLength: length, work } = step
    const inLines = lines.input.step === 1 || (work.kind === 'line' && work.square?.turns)
    return { outer: inner * length, ...(inLines ? { inner: length, step: 1 } : { inner: 1, step: inner }) }
  }
  // Paired real numbers are complex, so strides between lines are halved.
  const strides = (own: LineStrides, whole: FftLineKind, kind: FftLineKind) =>
    whole === 'real' && kind !== 'real' ? { outer: own.outer / 2, inner: own.inner / 2, step: 1 } : own
  return steps.map((step, index) => {
    const [first, last] = [index === 0, index === steps.length - 1]
    const input = first ? strides(lines.input, from, step.from) : after(steps[index - 1]!)
    const output = last ? strides(lines.output, to, step.to) : after(step)
    return {
      step,
      lines: { outer, inner, input, output },
      scale: last ? scale : 1,
      outputLength: span(lines, output, step.outputLength) * numbersOf(step.to),
    }
  })
}

/**
 * Records one step on the device `ordinal`, in as many dispatches as its limits require: nearly always one.
 */
export function recordLines(
  recorder: Recorder,
  ordinal: number,
  work: LineWork,
  input: BufferView<'f32'>,
  output: BufferView<'f32'>,
): void {
  const { step, lines, scale } = work
  const { limits } = recorder.devices[ordinal]!
  const bindable = Math.min(limits.maxStorageBindingByteLength, 2 ** 35 - 8) - 256
  const sides = [
    { view: input, strides: lines.input, length: step.inputLength, numbers: numbersOf(step.from) },
    { view: output, strides: lines.output, length: step.outputLength, numbers: numbersOf(step.to) },
  ] as const
  // Work is cut between lines that are not interleaved with others, neither in the input nor in the output.
  const level = (['outer', 'inner'] as const).find(
    (one) =>
      lines[one] > 1 &&
      sides.every(
        ({ strides, length }) => strides[one] >= span({ ...lines, outer: 1, [one]: 1 }, strides, length),
      ),
  )
  const fits = (part: Lines) =>
    sides.every(({ strides, length, numbers }) => span(part, strides, length) * numbers * 4 <= bindable) &&
    divisionOf(step, part).workgroups <= limits.maxWorkgroupsPerDimension ** 2
  const part = (count: number) => (level === undefined ? lines : { ...lines, [level]: count })
  const all = level === undefined ? 1 : lines[level]
  let most = all
  while (most > 1 && !fits(part(most))) most = Math.ceil(most / 2)
  if (!fits(part(most)))
    throw new GpuError(
      'too-large',
      `The lines of ${step.inputLength} values that are ${lines.input.step} values apart span ${span(part(most), lines.input, step.inputLength) * 8} bytes; device ${ordinal} allows bindings of at most ${bindable}.`,
    )
  for (const { first, count } of ranges(all, most)) {
    const [from, to] = sides.map(({ view, strides, length, numbers }) =>
      view.slice(
        (level === undefined ? 0 : first * strides[level]) * numbers,
        span(part(count), strides, length) * numbers,
      ),
    )
    const { workgroups, args } = divisionOf(step, part(count))
    recorder.dispatch(step.kernel, {
      device: ordinal,
      workgroups: foldWorkgroups(workgroups, recorder.devices[ordinal]!),
      args: {
        ...{ input: from!, output: to!, ...args, scale },
        // Only some dispatches of the generic kernels read factors.
        ...(step.table && { table: step.tables[ordinal]! }),
        exchanges_input: step.exchangesInput ? 1 : 0,
        exchanges_output: step.exchangesOutput ? 1 : 0,
      },
      label: step.source.label,
    })
  }
}

/** Indices of lines, or of values of a line: their number, and the distances between them. */
interface Level {
  readonly count: number
  readonly input: number
  readonly output: number
}

/** The number of workgroups for lines, and the arguments that say which lines each of them processes. */
function divisionOf({ work, inputLength, outputLength }: CompiledStep, lines: Lines) {
  const levelOf = (name: keyof LineStrides, count = 1): Level => ({
    count,
    input: lines.input[name],
    output: lines.output[name],
  })
  const [outer, inner] = [levelOf('outer', lines.outer), levelOf('inner', lines.inner)]
  const values = levelOf('step')
  const strides = (name: keyof LineStrides | 'middle', { input, output }: Omit<Level, 'count'>) => ({
    [`input_${name}`]: input,
    [`output_${name}`]: output,
  })
  if (work.kind === 'items') {
    const { items, before = 1 } = work
    const count = outer.count * inner.count * items
    // Neighbouring invocations process neighbouring inner indices, or values of one line if those are
    // adjacent in memory.
    const [high, low] = values.input === 1 && outer.count === 1 ? [inner, outer] : [outer, inner]
    const args = {
      ...{ count, items, input_length: inputLength, output_length: outputLength, before, inner: low.count },
      ...{ ...strides('outer', high), ...strides('inner', low), ...strides('step', values) },
    }
    return { workgroups: Math.ceil(count / genericInvocations), args }
  }
  const { square, shape } = work
  let [middle, low, step, columns]: [Level, Level, Omit<Level, 'count'>, Level] = [
    ...([{ count: 1, input: 0, output: 0 }, inner, values, inner] as const),
  ]
  if (square) {
    const { other, turns } = square
    const isFirst = square.side === 'columns'
    // Value (a, b) of the square is at a · rows + b of the line, and the rows store it at a + b · columns.
    // Between the two sides, it is at a · rows + b, or at a + b · columns if the square is transposed.
    const scaled = (apart: number, together: number) => ({
      input: values.input * (isFirst || turns ? apart : together),
      output: values.output * (isFirst && turns ? together : apart),
    })
    columns = { count: other, ...scaled(1, shape.method.length) }
    step = scaled(other, 1)
    // If lines are contiguous, the adjacent values are within the square.
    ;[middle, low] = values.input === 1 ? [inner, columns] : [columns, inner]
  }
  const across = Math.ceil(low.count / shape.lines)
  const groups = outer.count * middle.count * across
  const args = {
    ...{ groups, groups_across: across, inner: low.count, middle: middle.count },
    ...{ ...strides('outer', outer), ...strides('middle', middle), ...strides('inner', low) },
    ...{ ...strides('step', step), inner_columns: low === columns ? 1 : 0 },
  }
  return { workgroups: groups, args }
}
