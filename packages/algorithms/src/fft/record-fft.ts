import { type BufferView, type DeviceGroup, type Recorder, requireCount } from '@tandem-gpu/core'
import { invalid, requireResult } from '../require-result.ts'
import { inRounds } from '../rounds.ts'
import { type RowRange, requireMatrix, type ShardedMatrix, splitRows } from '../sharded-matrix.ts'
import type { CompiledFft, CompiledPass } from './compile-fft.ts'
import { type FftPlan, isContiguous, lengthOf, productOf } from './plan-fft.ts'
import { type LineStrides, type Lines, type LineWork, recordLines, workOf } from './record-lines.ts'

/** Options of `recordFft`. */
export interface RecordFftOptions {
  readonly fft: CompiledFft
  /**
   * An array of the plan's input shape. Rows are the first axis; columns are the numbers of all other axes,
   * two for each complex value.
   */
  readonly input: ShardedMatrix<'f32'>
  /** An array of the plan's output shape in the same form. Does not share memory with the input. */
  readonly output: ShardedMatrix<'f32'>
  /**
   * The number of parts in which the devices transform their rows before the first exchange: each part is sent
   * while the next one is transformed. Default: up to eight in three dimensions, with at least 16 MiB of a
   * block in each, otherwise one. The bits do not depend on it.
   */
  readonly parts?: number | undefined
}

/**
 * Smaller parts take longer than they save. In two dimensions, the rows of blocks are short, and parts save
 * nothing.
 */
const leastPartByteLength = 16 * 2 ** 20
const mostParts = 8

/**
 * Records a transform of slices on any devices. Each device transforms the axes along which it has whole
 * lines. For the first axis, every device sends every other one a block of its rows, so that each has a part
 * of the second axis and whole columns. The result returns in the same way, or stays if the order is
 * transposed. One device computes all of a line, as planned for its length, so the bits do not depend on the
 * devices.
 */
export function recordFft(recorder: Recorder, group: DeviceGroup, options: RecordFftOptions): void {
  const { fft, input, output, parts } = options
  if (parts !== undefined) requireCount(parts, 'The option parts', 1)
  requireResult(fft, 'passes', 'The option fft', 'a value that compileFft returned')
  const { plan } = fft
  requireShape(group, plan, 'input', input)
  requireShape(group, plan, 'output', output)
  if (input.rows * input.columns * output.rows * output.columns === 0) return
  const operations = operationsOf(fft, input, output)
  const pipeline = pipelineOf(operations, parts)
  const memory = arraysOf(recorder, operations, output, pipeline)
  const given = input.slices.map(({ view }) => view.reshape(1, view.length))
  /** What operation `index` reads, and what the one before writes. */
  const read = (index: number) => (index === 0 ? given : memory.map((arrays) => arrays[index - 1]!))
  const record = (index: number, part?: Part) => {
    const [operation, sources, targets] = [operations[index]!, read(index), read(index + 1)]
    if (operation.kind === 'exchange') return recordExchange(recorder, operation, sources, targets, part)
    for (const [ordinal, rows] of operation.sizes.entries()) {
      const own = part ? partOf(rows, part) : { row: 0, rows }
      const work = operation.workOn(own.rows)
      if (work === undefined || !recorder.touches(ordinal)) continue
      const [from, to] = [sources[ordinal]!, targets[ordinal]!].map((array) =>
        part ? array.slice((array.length / rows) * own.row, (array.length / rows) * own.rows) : array,
      )
      recordLines(recorder, ordinal, work, from!, to!)
    }
  }
  for (let index = 0; index < pipeline.parts; index++)
    for (let at = 0; at < pipeline.length; at++) record(at, { index, count: pipeline.parts })
  for (let at = pipeline.length; at < operations.length; at++) record(at)
}

type Numbers = BufferView<'f32'>

/** An operation of all devices. `lengths`: how many numbers each device has afterwards. */
type Operation =
  | {
      readonly kind: 'lines'
      /** How many rows (or columns) each device has, and the work on some of them. */
      readonly sizes: readonly number[]
      workOn(size: number): LineWork | undefined
      /** Whether each line lies in a row. */
      readonly inRows: boolean
      readonly lengths: readonly number[]
    }
  | Exchange

/** The first operations, up to the first exchange, if they are carried out in parts of the rows. */
interface Pipeline {
  readonly length: number
  readonly parts: number
}

/** One of the parts of the rows of each device. */
interface Part {
  readonly index: number
  readonly count: number
}

const partOf = (rows: number, { index, count }: Part) => splitRows(rows, count)[index]!

/**
 * An exchange of row blocks for column blocks: device s has rows `rows[s]` before and columns `columns[s]`
 * after, or vice versa.
 */
interface Exchange {
  readonly kind: 'exchange'
  readonly rows: readonly RowRange[]
  readonly columns: readonly RowRange[]
  /** The number of f32 numbers in one element of the exchanged matrix. */
  readonly numbers: number
  readonly height: number
  readonly width: number
  readonly to: 'columns' | 'rows'
  readonly lengths: readonly number[]
}

/**
 * The plan as operations of devices: passes, and exchanges before passes that need whole lines of an axis
 * that is split between devices.
 */
function operationsOf(
  { plan, passes }: CompiledFft,
  input: ShardedMatrix<'f32'>,
  output: ShardedMatrix<'f32'>,
): Operation[] {
  const devices = input.slices.length
  const transposed = plan.order === 'transposed'
  const several = devices > 1
  // An array with a single axis is a matrix of one row.
  const ranked = plan.shape.length > 1
  const shape = ranked ? [...plan.inputShape] : [1, ...plan.inputShape]
  let numbers = plan.realInput ? 1 : 2
  let layout = 'rows' as 'rows' | 'columns'
  let rows: readonly RowRange[] = input.slices
  let columns: readonly RowRange[] = []
  const operations: Operation[] = []
  const moveTo = (to: 'rows' | 'columns', height: number, width: number) => {
    const [parts, each] = to === 'columns' ? [columns, height] : [rows, width]
    const inElement = productOf(shape.slice(2)) * numbers
    const lengths = parts.map((part) => part.rows * each * inElement)
    operations.push({ kind: 'exchange', rows, columns, numbers: inElement, height, width, to, lengths })
    layout = to
  }
  const exchange = (to: 'rows' | 'columns') => {
    const [height, width] = [shape[0]!, shape[1]!]
    // If this is the first axis of the result, it is split as the result is.
    const parts = (length: number, isOfResult: boolean) =>
      isOfResult && output.rows === length ? output.slices : splitRows(length, devices)
    if (to === 'columns') columns = parts(width, transposed)
    else rows = parts(height, !transposed)
    moveTo(to, height, width)
  }

  for (const [index, pass] of passes.entries()) {
    const axis = ranked ? pass.axis : 1
    if (several && axis === 0 && layout === 'rows') exchange('columns')
    if (several && axis === 1 && layout === 'columns') exchange('rows')
    if (!several) rows = [{ row: 0, rows: shape[0]! }]
    const scale = index === passes.length - 1 ? plan.scale : 1
    const before = [...shape]
    shape[axis] = lengthOf(pass.method.length, pass.to)
    numbers = pass.to === 'real' ? 1 : 2
    const parts = layout === 'rows' ? rows : columns
    const split = layout === 'rows' ? 0 : 1
    const worksOn = (size: number) => {
      const local = axis === split ? before : before.with(split, size)
      if (local.includes(0)) return undefined
      return workOf(pass, linesOf(pass, axis, local, isContiguous(plan.shape, pass.axis)), scale)
    }
    const sizes = parts.map((part) => part.rows)
    for (const step of pass.steps.keys()) {
      const workOn = (size: number) => worksOn(size)?.[step]
      const lengths = sizes.map((size) => workOn(size)?.outputLength ?? 0)
      operations.push({ kind: 'lines', sizes, workOn, inRows: layout === 'rows' && axis > 0, lengths })
    }
  }
  if (!several) return operations
  if (!transposed) {
    if (layout === 'columns') exchange('rows')
  } else if (layout === 'rows') {
    // Each device has stored its rows as columns, in blocks that make up the rows of the result.
    ;[rows, columns] = [output.slices, rows]
    moveTo('rows', shape[1]!, shape[0]!)
  }
  return operations
}

/** The lines of a pass in a device's part of an array of `shape`, the shape of the pass's input. */
function linesOf(pass: CompiledPass, axis: number, shape: readonly number[], contiguous: boolean): Lines {
  const { transposes } = pass
  // As an array of three axes, of which a pass that does not transpose transforms the second.
  const [before, at] = transposes
    ? [[shape[0]!, shape[1]!, productOf(shape.slice(2))] as const, axis]
    : [[productOf(shape.slice(0, axis)), shape[axis]!, productOf(shape.slice(axis + 1))] as const, 1]
  const after = before.with(at, lengthOf(pass.method.length, pass.to))
  const reads = [before[1] * before[2], before[2], 1]
  const writes = transposes ? [after[2]!, after[0]! * after[2]!, 1] : [after[1]! * after[2]!, after[2]!, 1]
  const [outer, inner] = [0, 1, 2].filter((one) => one !== at) as [number, number]
  const strides = (all: readonly number[]) => ({ outer: all[outer]!, inner: all[inner]!, step: all[at]! })
  const [input, output] = [strides(reads), strides(writes)]
  const isSingle = transposes ? inner === 2 && before[2] === 1 : contiguous
  if (!isSingle) return { outer: before[outer]!, inner: before[inner]!, input, output }
  // The inner axis has one value: the lines of the outer axis are neighbours.
  const flat = ({ outer, step }: LineStrides) => ({ outer: 0, inner: outer, step })
  return { outer: 1, inner: before[outer]!, input: flat(input), output: flat(output) }
}

/** The operations up to the first exchange, in `parts`, or as many as pay off. */
function pipelineOf(operations: readonly Operation[], parts: number | undefined): Pipeline {
  const at = operations.findIndex(({ kind }) => kind === 'exchange')
  const exchange = operations[at]
  const none = { length: 0, parts: 0 }
  if (exchange?.kind !== 'exchange' || exchange.to === 'rows' || at === 0) return none
  if (operations.some((operation, index) => index < at && !('inRows' in operation && operation.inRows)))
    return none
  const { rows, columns, numbers } = exchange
  const largest = (ranges: readonly RowRange[]) => Math.max(...ranges.map((range) => range.rows))
  const byteLength = numbers > 2 ? largest(rows) * largest(columns) * numbers * 4 : 0
  const usual = Math.max(1, Math.min(mostParts, Math.floor(byteLength / leastPartByteLength)))
  const chosen = parts ?? usual
  return chosen === 1 ? none : { length: at + 1, parts: chosen }
}

/**
 * The arrays that operations write, by device. The last operation writes the output, and each one before
 * another array than the next: the output again if it is large enough, or scratch memory. In a pipeline, the
 * exchange writes an array that no earlier operation uses, because these are not complete then.
 */
function arraysOf(
  recorder: Recorder,
  operations: readonly Operation[],
  output: ShardedMatrix<'f32'>,
  pipeline: Pipeline,
): (readonly Numbers[])[] {
  const last = operations.length - 1
  const turns: number[] = []
  for (let index = last; index >= 0; index--) {
    const taken = index === last ? [] : [turns[index + 1]]
    if (index < pipeline.length - 1) taken.push(turns[pipeline.length - 1])
    turns[index] = [0, 1, 2].find((turn) => !taken.includes(turn))!
  }
  return output.slices.map(({ view, device: { ordinal } }) => {
    const dense = view.reshape(1, view.length)
    const lengths = operations.map((operation) => operation.lengths[ordinal]!)
    const fits = lengths.map((length, index) => turns[index] === 0 && length <= dense.length)
    const scratch = (['b', 'a', 'c'] as const).map((name, turn) => {
      const needed = lengths.filter((_, index) => turns[index] === turn && !fits[index])
      if (needed.length === 0) return dense
      return recorder.scratch(ordinal, 'f32', Math.max(...needed), { label: `fft ${name} of ${ordinal}` })
    })
    return lengths.map((length, index) => (fits[index] ? dense : scratch[turns[index]!]!).slice(0, length))
  })
}

function recordExchange(
  recorder: Recorder,
  { rows, columns, numbers, height, width, to }: Exchange,
  sources: readonly Numbers[],
  targets: readonly Numbers[],
  part?: Part,
): void {
  for (const [sender, receiver] of inRounds(sources.length)) {
    if (!recorder.touches(sender, receiver)) continue
    const [ofRows, ofColumns] = to === 'columns' ? [sender, receiver] : [receiver, sender]
    const [row, column] = [rows[ofRows]!, columns[ofColumns]!]
    const own = part === undefined ? { row: 0, rows: row.rows } : partOf(row.rows, part)
    if (own.rows * column.rows === 0) continue
    const [first, count] = [column.row * numbers, column.rows * numbers]
    const inRows = (array: Numbers) =>
      array.reshape(row.rows, width * numbers).block(own.row, first, own.rows, count)
    const inColumns = (array: Numbers) =>
      array.reshape(height, count).block(row.row + own.row, 0, own.rows, count)
    const [from, into] = to === 'columns' ? [inRows, inColumns] : [inColumns, inRows]
    recorder.copy(from(sources[sender]!), into(targets[receiver]!), {
      label: `block (${receiver}, ${sender})`,
    })
  }
}

/**
 * The rows and columns of the matrices that hold the input and the output of a plan. Their first axis is split
 * between devices.
 */
export function matricesOf({ inputShape, realInput, outputShape, realOutput }: FftPlan) {
  const matrix = (shape: readonly number[], real: boolean) => {
    const [rows, rest] = shape.length > 1 ? [shape[0]!, shape.slice(1)] : [1, shape]
    return { rows, columns: productOf(rest) * (real ? 1 : 2) }
  }
  return { input: matrix(inputShape, realInput), output: matrix(outputShape, realOutput) }
}

function requireShape(
  group: DeviceGroup,
  plan: FftPlan,
  name: 'input' | 'output',
  matrix: ShardedMatrix<'f32'>,
): void {
  requireMatrix(matrix, `The ${name} of recordFft`)
  const { rows, columns } = matricesOf(plan)[name]
  const [real, shape] =
    name === 'input' ? [plan.realInput, plan.inputShape] : [plan.realOutput, plan.outputShape]
  if (matrix.type !== 'f32' || matrix.rows !== rows || matrix.columns !== columns)
    throw invalid(
      `The ${name} is ${matrix.rows} × ${matrix.columns} ${matrix.type}; ${real ? 'real' : 'complex'} numbers of shape ${shape.join(' × ')} are ${rows} × ${columns} f32.`,
    )
  if (matrix.slices.length !== group.devices.length)
    throw invalid(
      `The ${name} has ${matrix.slices.length} slices, but the group has ${group.devices.length} devices.`,
    )
  for (const { view, device } of matrix.slices)
    if (view.rows > 1 && view.stride !== view.columns)
      throw invalid(
        `The slice of the ${name} on device ${device.ordinal} has rows of ${view.columns} elements that are ${view.stride} apart; a transform needs rows without gaps.`,
      )
}
