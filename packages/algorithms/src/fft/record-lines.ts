import { type BufferView, foldWorkgroups, GpuError, type Recorder } from '@tandem-gpu/core'
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
const span = ({ outer, inner }: Lines, strides: LineStrides, length: number) =>
  (outer - 1) * strides.outer + (inner - 1) * strides.inner + (length - 1) * strides.step + 1

/**
 * The steps of a pass as work on `lines`. Between steps, lines of complex numbers are dense, in the layout of
 * the input or of a transposed square.
 */
export function workOf(pass: CompiledPass, lines: Lines, scale: number): LineWork[] {
  const { steps } = pass
  const { outer, inner } = lines
  const dense = (length: number, step: CompiledStep): LineStrides =>
    liesInLines(step, lines)
      ? { outer: inner * length, inner: length, step: 1 }
      : { outer: inner * length, inner: 1, step: inner }
  const last = steps.length - 1
  // Paired real numbers are complex, so strides between lines are halved.
  const strides = (own: LineStrides, inPairs: boolean) =>
    inPairs ? { outer: own.outer / 2, inner: own.inner / 2, step: 1 } : own
  return steps.map((step, index) => {
    const [reads, writes] = [pass.from, pass.to].map((kind) => kind === 'real')
    const own = {
      outer,
      inner,
      input:
        index === 0
          ? strides(lines.input, reads! && step.from !== 'real')
          : dense(steps[index - 1]!.outputLength, steps[index - 1]!),
      output:
        index === last
          ? strides(lines.output, writes! && step.to !== 'real')
          : dense(step.outputLength, step),
    }
    return {
      step,
      lines: own,
      scale: index === last ? scale : 1,
      outputLength: span(own, own.output, step.outputLength) * numbersOf(step.to),
    }
  })
}

/** Whether a step stores lines whose values are adjacent for the next step. */
function liesInLines({ work }: CompiledStep, lines: Lines): boolean {
  return lines.input.step === 1 || (work.kind === 'square' && work.turns)
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
    { strides: lines.input, length: step.inputLength, kind: step.from },
    { strides: lines.output, length: step.outputLength, kind: step.to },
  ] as const
  // Work can be split between outer lines, and between inner lines if they are not interleaved in the input
  // or in the output.
  const cut = (['outer', 'inner'] as const).filter(
    (level) =>
      lines[level] > 1 &&
      sides.every(({ strides, length }) => strides[level] >= restSpan(lines, strides, length, level)),
  )
  const fits = (part: Lines) =>
    sides.every(
      ({ strides, length, kind }) => span(part, strides, length) * numbersOf(kind) * 4 <= bindable,
    ) && workgroupsOf(step, part) <= limits.maxWorkgroupsPerDimension ** 2
  const place = (
    { strides, kind }: (typeof sides)[number],
    view: BufferView<'f32'>,
    at: Place,
    part: Lines,
    length: number,
  ) =>
    view.slice(
      (at.outer * strides.outer + at.inner * strides.inner) * numbersOf(kind),
      span(part, strides, length) * numbersOf(kind),
    )
  record(lines, { outer: 0, inner: 0 })

  function record(part: Lines, at: Place): void {
    if (!fits(part)) {
      const level = cut.find((one) => part[one] > 1)
      if (level === undefined)
        throw new GpuError(
          'too-large',
          `The lines of ${step.inputLength} values that are ${lines.input.step} values apart span ${span(part, lines.input, step.inputLength) * 8} bytes; device ${ordinal} allows bindings of at most ${bindable}.`,
        )
      const half = Math.ceil(part[level] / 2)
      record({ ...part, [level]: half }, at)
      record({ ...part, [level]: part[level] - half }, { ...at, [level]: at[level] + half })
      return
    }
    const views = [
      place(sides[0], input, at, part, step.inputLength),
      place(sides[1], output, at, part, step.outputLength),
    ] as const
    dispatchStep(recorder, ordinal, { ...work, lines: part }, views[0], views[1])
  }
}

interface Place {
  readonly outer: number
  readonly inner: number
}

/** The number of values from the first to the last of the lines with the same index of `level`. */
function restSpan(lines: Lines, strides: LineStrides, length: number, level: 'outer' | 'inner'): number {
  const line = (length - 1) * strides.step + 1
  return level === 'inner' ? line : (lines.inner - 1) * strides.inner + line
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
    const { levels, columns } = levelsOf(step, lines)
    const groupsAcross = Math.ceil(levels.inner.count / work.shape.lines)
    const groups = levels.outer.count * levels.middle.count * groupsAcross
    dispatch(groups, {
      groups,
      groups_across: groupsAcross,
      inner: levels.inner.count,
      middle: levels.middle.count,
      input_outer: levels.outer.input,
      input_middle: levels.middle.input,
      input_inner: levels.inner.input,
      input_step: levels.input,
      output_outer: levels.outer.output,
      output_middle: levels.middle.output,
      output_inner: levels.inner.output,
      output_step: levels.output,
      inner_columns: columns === 'inner' ? 1 : 0,
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
    input_outer: lines.input[high],
    input_inner: lines.input[low],
    input_step: lines.input.step,
    output_outer: lines.output[high],
    output_inner: lines.output[low],
    output_step: lines.output.step,
  })
}

/** One level of line indices: how many there are, and the distances between them. */
interface Level {
  readonly count: number
  readonly input: number
  readonly output: number
}

/**
 * How the lines of a kernel that uses workgroup memory are indexed. `columns` is the level whose indices are
 * the columns of a square.
 */
function levelsOf(
  { work }: CompiledStep,
  { outer, inner, input, output }: Lines,
): {
  readonly levels: { outer: Level; middle: Level; inner: Level; input: number; output: number }
  readonly columns: 'inner' | 'middle'
} {
  const level = (name: 'outer' | 'inner', count: number): Level => ({
    count,
    input: input[name],
    output: output[name],
  })
  const outerLevel = level('outer', outer)
  const innerLevel = level('inner', inner)
  if (work.kind !== 'square') {
    const one = { count: 1, input: 0, output: 0 }
    const steps = { input: input.step, output: output.step }
    return { levels: { outer: outerLevel, middle: one, inner: innerLevel, ...steps }, columns: 'inner' }
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
    ? { levels: { outer: outerLevel, middle: innerLevel, inner: across, ...steps }, columns: 'inner' }
    : { levels: { outer: outerLevel, middle: across, inner: innerLevel, ...steps }, columns: 'middle' }
}
