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
    const inLines = lines.input.step === 1 || (work.kind === 'square' && work.turns)
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
  const { step, lines } = work
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
    workgroupsOf(step, part) <= limits.maxWorkgroupsPerDimension ** 2
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
    dispatchStep(recorder, ordinal, { ...work, lines: part(count) }, from!, to!)
  }
}

function workgroupsOf({ work }: CompiledStep, { outer, inner }: Lines): number {
  switch (work.kind) {
    case 'line':
      return outer * Math.ceil(inner / work.shape.lines)
    case 'square':
      return outer * inner * work.other
    case 'items':
      return Math.ceil((outer * inner * work.items) / genericInvocations)
  }
}

function dispatchStep(
  recorder: Recorder,
  ordinal: number,
  { step, lines, scale }: LineWork,
  input: BufferView<'f32'>,
  output: BufferView<'f32'>,
): void {
  const { work, kernel } = step
  const { outer, inner } = lines
  // Only some dispatches of the generic kernels read factors.
  const factors = step.table !== undefined
  const common = {
    input,
    output,
    ...(factors && { table: step.tables[ordinal]! }),
    exchanges_input: step.exchangesInput ? 1 : 0,
    exchanges_output: step.exchangesOutput ? 1 : 0,
    scale,
  }
  const device = recorder.devices[ordinal]!
  const dispatch = (workgroups: number, args: Readonly<Record<string, number>>) =>
    recorder.dispatch(kernel, {
      device: ordinal,
      workgroups: foldWorkgroups(workgroups, device),
      args: { ...common, ...args },
      label: step.source.label,
    })
  if (work.kind === 'line' || work.kind === 'square') {
    const { levels, columns, ...steps } = levelsOf(step, lines)
    const [high, middle, low] = levels
    const groupsAcross = Math.ceil(low.count / work.shape.lines)
    const groups = high.count * middle.count * groupsAcross
    dispatch(groups, {
      ...{ groups, groups_across: groupsAcross, inner: low.count, middle: middle.count },
      ...{ input_outer: high.input, input_middle: middle.input, input_inner: low.input },
      ...{ output_outer: high.output, output_middle: middle.output, output_inner: low.output },
      ...{ input_step: steps.input, output_step: steps.output, inner_columns: columns === 2 ? 1 : 0 },
    })
    return
  }
  // Neighbouring invocations process neighbouring inner indices, or values of one line if those are adjacent
  // in memory.
  const [high, low] =
    lines.input.step === 1 && outer === 1 ? (['inner', 'outer'] as const) : (['outer', 'inner'] as const)
  const { items, before = 1 } = work
  dispatch(workgroupsOf(step, lines), {
    count: outer * inner * items,
    items,
    input_length: step.inputLength,
    output_length: step.outputLength,
    before,
    inner: lines[low],
    ...{ input_outer: lines.input[high], input_inner: lines.input[low], input_step: lines.input.step },
    ...{ output_outer: lines.output[high], output_inner: lines.output[low], output_step: lines.output.step },
  })
}

/** One level of line indices: how many there are, and the distances between them. */
interface Level {
  readonly count: number
  readonly input: number
  readonly output: number
}

/**
 * How the lines of a kernel that uses workgroup memory are indexed: by three levels, of which `columns` is the
 * one whose indices are the columns of a square; and the distances between values.
 */
function levelsOf({ work }: CompiledStep, lines: Lines) {
  const { input, output } = lines
  const [outer, inner] = (['outer', 'inner'] as const).map(
    (name): Level => ({ count: lines[name], input: input[name], output: output[name] }),
  ) as [Level, Level]
  if (work.kind !== 'square') {
    const one: Level = { count: 1, input: 0, output: 0 }
    return { levels: [outer, one, inner], input: input.step, output: output.step, columns: 2 } as const
  }
  const columns = work.side === 'columns'
  const { other, turns } = work
  const { length } = work.shape.method
  // Value (a, b) of the square is at a · rows + b of the line, and the rows store it at a + b · columns.
  // Between the two sides, it is at a · rows + b, or at a + b · columns if the square is transposed.
  const together = (step: number) => ({ across: length * step, step })
  const apart = (step: number) => ({ across: step, step: other * step })
  const from = columns || turns ? apart(input.step) : together(input.step)
  const to = columns && turns ? together(output.step) : apart(output.step)
  const across: Level = { count: other, input: from.across, output: to.across }
  const steps = { input: from.step, output: to.step }
  // If lines are contiguous, the adjacent values are within the square.
  return input.step === 1
    ? ({ levels: [outer, inner, across], ...steps, columns: 2 } as const)
    : ({ levels: [outer, across, inner], ...steps, columns: 1 } as const)
}
