import {
  type BufferView,
  bindableRows,
  type Device,
  GpuError,
  type HostView,
  type Recorder,
  ranges,
  requireCount,
} from '@tandem-gpu/core'
import { characterOf } from '../device-character.ts'
import { fusedStripes, fusedStripRows } from './fused-strip.ts'
import { type FieldBlock, innerVectors, type JacobiField, leadElements } from './jacobi-field.ts'
import { fusedSweeps, type JacobiKernels } from './jacobi-kernels.ts'
import type { ResidualTree } from './residual-tree.ts'
import { passesOf } from './sweep-plan.ts'

/** Options of `recordSweeps`. */
export interface RecordSweepsOptions {
  /**
   * The number of sweeps. After an even number of passes the state is in the same copy as before, so that the
   * program can be repeated. A pass is one sweep, or `fusedSweeps` sweeps with fused kernels.
   */
  readonly sweeps: number
  /** The copy of the cells that the first sweep reads. */
  readonly parity: 0 | 1
  /**
   * By sweep (1 is the first): host memory that receives the largest change of a cell in that sweep, one u32
   * for each block, in order.
   */
  readonly residuals?: ReadonlyMap<number, HostView<'u32'>> | undefined
  /**
   * Distributes residuals to all processes if there are several; without it, each block sends its own to each
   * process.
   */
  readonly residualTree?: ResidualTree | undefined
}

/**
 * Records sweeps over all blocks, and the exchange of halos between sweeps (NVIDIA's CUDA-aware MPI series,
 * part 4). Edge rows are copied directly; edge columns are packed by a kernel into contiguous memory, copied
 * and unpacked. Kernels pack while rows are copied. Throws `validation` if the field does not fit the
 * kernels.
 */
export function recordSweeps(
  recorder: Recorder,
  field: JacobiField,
  kernels: JacobiKernels,
  options: RecordSweepsOptions,
): void {
  requireSweepable(field, kernels, options)
  let from = options.parity
  // For blocks of other processes, only exchanges with this process's blocks are recorded, and residuals,
  // which every process receives.
  const touches = field.blocks.map(({ owner }) => recorder.touches(owner.ordinal))
  const own = field.blocks.filter((_, index) => touches[index])
  const strips = own.map((block) => fusedStripRows(block.rows, block.columns))
  const { fused, columns } = kernels
  const residualSweeps = options.residuals?.keys() ?? []
  for (const { last, count } of passesOf(options.sweeps, residualSweeps, fused !== undefined)) {
    const residual = options.residuals?.get(last)
    const observe = residual !== undefined
    if (residual) for (const block of own) recorder.fill(block.residual, 0, { label: 'clear residual' })
    for (const [index, block] of own.entries())
      if (fused && count > 1) recordFusedSweeps(recorder, fused, block, strips[index]!, from, observe)
      else recordBlockSweep(recorder, field, kernels, block, from, observe)
    if (residual && options.residualTree) options.residualTree.record(recorder, residual)
    else if (residual)
      for (const [index, block] of field.blocks.entries())
        recorder.download(block.residual, residual.slice(index, 1), { label: 'residual' })
    from = from === 0 ? 1 : 0
    if (columns) recordExchange(recorder, field, columns, from, touches)
  }
}

/**
 * Throws `validation` if the kernels would read cells that the field does not have, or that no transfer
 * updates.
 */
function requireSweepable(
  { blocks, grid }: JacobiField,
  { fused, transport }: JacobiKernels,
  { sweeps, parity }: RecordSweepsOptions,
): void {
  requireCount(sweeps, 'The number of sweeps')
  if (parity !== 0 && parity !== 1)
    throw new GpuError('validation', `The parity of the sweeps is ${String(parity)}; it must be 0 or 1.`)
  if (fused !== undefined && grid.across > 1)
    throw new GpuError(
      'validation',
      `Kernels that fuse sweeps need blocks in one column; the field has ${grid.across} columns of blocks.`,
    )
  const haloRows = fused === undefined ? 1 : fusedSweeps
  for (const { haloRows: rows, left, send, device } of blocks) {
    if (rows < haloRows)
      throw new GpuError(
        'validation',
        `The kernels need ${haloRows} halo rows, but the field has ${rows}: allocate it with haloRows ${haloRows}.`,
      )
    if (transport === 'copy' && left !== undefined && send.left === undefined)
      throw new GpuError(
        'validation',
        `The kernels send columns, but block ${device} of the field has no packed columns: allocate it with columnHalos true.`,
      )
  }
}

function recordFusedSweeps(
  recorder: Recorder,
  kernels: NonNullable<JacobiKernels['fused']>,
  block: FieldBlock,
  strip: number,
  from: 0 | 1,
  observe: boolean,
): void {
  const { rows, columns, owner, haloRows } = block
  const cells = block.cells[from]
  recorder.dispatch(observe ? kernels.sweepResidual : kernels.sweep, {
    device: owner,
    workgroups: [fusedStripes(columns), Math.ceil(rows / strip)],
    args: {
      u: cells.block(haloRows - fusedSweeps, 0, rows + 2 * fusedSweeps, cells.stride),
      next: innerVectors(block, from === 0 ? 1 : 0),
      ...(observe ? { residual: block.residual } : {}),
      rows,
      columns,
      top: fusedSweeps,
      lead: leadElements / 4,
      strip,
      inner_first: block.above === undefined ? 0 : -fusedSweeps,
      inner_end: block.below === undefined ? rows : rows + fusedSweeps,
    },
    label: 'fused sweeps',
  })
}

function recordBlockSweep(
  recorder: Recorder,
  field: JacobiField,
  kernels: JacobiKernels,
  block: FieldBlock,
  from: 0 | 1,
  observe: boolean,
): void {
  const { columns, owner } = block
  const cells = block.cells[from]
  const next = innerVectors(block, from === 0 ? 1 : 0)
  const width = next.columns
  for (const { row, count } of rowRanges(block)) {
    const strip = stripRows(count, owner)
    const u =
      kernels.transport === 'direct'
        ? {
            u: cells.block(row + block.haloRows, leadElements, count, width),
            top: 0,
            lead: 0,
            above_edge: rowBeside(field, block, from, row - 1, width),
            below_edge: rowBeside(field, block, from, row + count, width),
            left_edge: columnBeside(field, block, from, 'left', row, count),
            right_edge: columnBeside(field, block, from, 'right', row, count),
          }
        : {
            u: cells.block(row + block.haloRows - 1, 0, count + 2, cells.stride),
            top: 1,
            lead: leadElements / 4,
          }
    recorder.dispatch(observe ? kernels.sweepResidual : kernels.sweep, {
      device: owner,
      workgroups: [Math.min(65_535, Math.ceil(width / 128)), Math.ceil(count / strip / 4)],
      args: {
        ...u,
        next: next.block(row, 0, count, width),
        ...(block.source && { source: block.source.block(row, 0, count, width) }),
        ...(observe && { residual: block.residual }),
        rows: count,
        columns,
        strip,
      },
      label: 'sweep',
    })
  }
}

/**
 * The number of rows that an invocation sweeps: the device's preferred number, but enough that the workgroups
 * fit into one dimension.
 */
function stripRows(rows: number, { info }: Device): number {
  return Math.max(characterOf(info).jacobi.stripRows(rows), Math.ceil(rows / 262_140))
}

/** Rows of a block, split if a binding would exceed the device's limit. */
function rowRanges({ rows, owner, cells }: FieldBlock): { row: number; count: number }[] {
  // A sweep also reads the row above and the row below.
  const most = Math.max(1, bindableRows(owner, cells[0]) - 2)
  return [...ranges(rows, most)].map(({ first, count }) => ({ row: first, count }))
}

/**
 * The row of cells next to a sweep's rows: the block's own, its boundary, or the neighbour's. `row` may be -1
 * or `rows`.
 */
function rowBeside(
  field: JacobiField,
  block: FieldBlock,
  from: 0 | 1,
  row: number,
  width: number,
): BufferView<'f32'> {
  const neighbour = row < 0 ? block.above : row >= block.rows ? block.below : undefined
  if (neighbour === undefined) return block.cells[from].block(row + block.haloRows, leadElements, 1, width)
  const other = field.blocks[neighbour]!
  return other.cells[from].block(other.haloRows + (row < 0 ? other.rows - 1 : 0), leadElements, 1, width)
}

function columnBeside(
  field: JacobiField,
  block: FieldBlock,
  from: 0 | 1,
  side: 'left' | 'right',
  row: number,
  count: number,
): BufferView<'f32'> {
  const neighbour = block[side]
  if (neighbour === undefined) {
    const column = side === 'left' ? leadElements - 1 : leadElements + block.columns
    return block.cells[from].block(row + block.haloRows, column, count, 1)
  }
  const other = field.blocks[neighbour]!
  const column = side === 'left' ? leadElements + other.columns - 1 : leadElements
  return other.cells[from].block(row + other.haloRows, column, count, 1)
}

type ColumnKernels = NonNullable<JacobiKernels['columns']>

/** Records the exchange that updates the halos of copy `at`. */
function recordExchange(
  recorder: Recorder,
  field: JacobiField,
  kernels: ColumnKernels,
  at: 0 | 1,
  touches: readonly boolean[],
): void {
  const { blocks } = field
  const own = blocks.filter((_, index) => touches[index])
  const meet = (index: number, other: number | undefined): other is number =>
    other !== undefined && (touches[index]! || touches[other]!)
  for (const block of own) recordPack(recorder, kernels, block, at)
  for (const [index, block] of blocks.entries()) {
    const { rows, columns } = block
    // `haloRows` rows of a block, counted from its first inner one. If the rows are whole rows of the grid,
    // only the boundary is next to them, which all blocks have, so it is copied as well: rows without gaps
    // are faster.
    const band = (of: FieldBlock, first: number) =>
      field.grid.across === 1
        ? of.cells[at].block(of.haloRows + first, 0, of.haloRows, of.cells[at].stride)
        : of.cells[at].block(of.haloRows + first, leadElements, of.haloRows, columns)
    const { haloRows } = block
    if (meet(index, block.above)) {
      const other = blocks[block.above]!
      recorder.copy(band(other, other.rows - haloRows), band(block, -haloRows), { label: 'halo row' })
    }
    if (meet(index, block.below))
      recorder.copy(band(blocks[block.below]!, 0), band(block, rows), { label: 'halo row' })
  }
  for (const [index, block] of blocks.entries()) {
    for (const [side, opposite] of [
      ['left', 'right'],
      ['right', 'left'],
    ] as const) {
      const other = block[side]
      if (meet(index, other))
        recorder.copy(blocks[other]!.send[opposite]!, block.receive[side]!, { label: 'halo column' })
    }
  }
  for (const block of own) {
    const { left, right } = block.receive
    if (left)
      recordColumn(recorder, kernels, block, left.reshape(block.rows, 1), column(block, at, -1), 'unpack')
    if (right)
      recordColumn(
        recorder,
        kernels,
        block,
        right.reshape(block.rows, 1),
        column(block, at, block.columns),
        'unpack',
      )
  }
}

function column(block: FieldBlock, at: 0 | 1, index: number): BufferView<'f32'> {
  return block.cells[at].block(block.haloRows, leadElements + index, block.rows, 1)
}

function recordPack(recorder: Recorder, kernels: ColumnKernels, block: FieldBlock, at: 0 | 1): void {
  const { left, right } = block.send
  const first = column(block, at, 0)
  const last = column(block, at, block.columns - 1)
  if (left && right)
    recorder.dispatch(kernels.both, {
      device: block.owner,
      workgroups: columnWorkgroups(block),
      args: {
        source: first,
        destination: left.reshape(block.rows, 1),
        source2: last,
        destination2: right.reshape(block.rows, 1),
        cells: block.rows,
      },
      label: 'pack',
    })
  else if (left) recordColumn(recorder, kernels, block, first, left.reshape(block.rows, 1), 'pack')
  else if (right) recordColumn(recorder, kernels, block, last, right.reshape(block.rows, 1), 'pack')
}

function recordColumn(
  recorder: Recorder,
  kernels: ColumnKernels,
  block: FieldBlock,
  source: BufferView<'f32'>,
  destination: BufferView<'f32'>,
  label: string,
): void {
  recorder.dispatch(kernels.one, {
    device: block.owner,
    workgroups: columnWorkgroups(block),
    args: { source, destination, cells: block.rows },
    label,
  })
}

function columnWorkgroups(block: FieldBlock): number {
  return Math.min(65_535, Math.ceil(block.rows / 64))
}
