import { type Device, type DeviceGroup, GpuError, OwnedResources, requireCount } from '@tandem-gpu/core'
import type { AlgorithmOptions } from '../algorithm-options.ts'
import { characterOf } from '../device-character.ts'
import {
  type ElementReader,
  type ElementSink,
  type ElementSource,
  readElements,
  requireElements,
  streamChunkLength,
} from '../element-source.ts'
import { countRuns, median } from '../measure.ts'
import { elementsOption, requireArguments } from '../option-types.ts'
import { describeGroup, gigaRate, notVerified, type Report } from '../report.ts'
import { compareSchedules } from '../run-measured.ts'
import { type Decomposition, decompose, type JacobiBlock } from './decomposition.ts'
import { allocateField, stateReader, writeSource, writeState } from './jacobi-field.ts'
import { JacobiIteration } from './jacobi-iteration.ts'
import { compileJacobi, fusedSweeps, type HaloTransport } from './jacobi-kernels.ts'
import { verifyField } from './verify-field.ts'

/** Options of `jacobi`. */
export interface JacobiOptions extends Omit<AlgorithmOptions, 'repetitions'> {
  /** The size of the grid in cells, including its outer ring, which is the fixed (Dirichlet) boundary. */
  readonly rows: number
  readonly columns: number
  /** The initial grid, rows × columns: its outer ring is the boundary. Default: `waveBoundary`. */
  readonly input?: ElementSource<'f32'> | undefined
  /**
   * f of Poisson's equation Δu = -f times the square of the spacing, rows × columns; the outer ring is not
   * used. Default: 0 (Laplace).
   */
  readonly source?: ElementSource<'f32'> | undefined
  /**
   * Receives the final grid, rows × columns. To continue from it later, pass it as `input` with
   * `startIteration`.
   */
  readonly output?: ElementSink<'f32'> | undefined
  /** The number of sweeps, or the maximum number with a `tolerance`. Default 1000. */
  readonly iterations?: number | undefined
  /** Sweeps that were already applied to `input`; results count from there. Default 0. */
  readonly startIteration?: number | undefined
  /**
   * Stop when the largest change of a cell in one sweep is at most this. The change is read while the next
   * interval is already running, so one more interval may run.
   */
  readonly tolerance?: number | undefined
  /** Sweeps between two checks of the residual. Default 100. */
  readonly residualEvery?: number | undefined
  /** Default: `1d` on hardware if sweeps can be fused, otherwise `2d`. */
  readonly decomposition?: Decomposition | undefined
  /** Default `auto`: `copy` if sweeps are fused, otherwise `direct` for small blocks between peers. */
  readonly transport?: HaloTransport | 'auto' | undefined
  /**
   * Whether one pass over memory does four sweeps, with the same bits as four single sweeps. This needs
   * blocks in one column, copied halos, and no source. Default `auto`: fused on hardware under these
   * conditions, unless a single device has a small grid.
   */
  readonly fuse?: boolean | 'auto' | undefined
  /** The number of devices to use, the first ones of the group. Default: all. */
  readonly devices?: number | undefined
  /**
   * Called after every interval of a timed run that the host waits for: up to 200 times in a run on a
   * software GPU; once at the end on hardware, or 100 times if the previous run took more than two seconds.
   * With a `tolerance`, also called at every check of the residual.
   */
  readonly onProgress?: ((progress: { iteration: number; residual: number }) => void) | undefined
}

/** The report of `jacobi`. */
export interface JacobiReport extends Report {
  readonly algorithm: 'jacobi'
  /** The number of sweeps that led to the state, including `startIteration`. */
  readonly iterations: number
  /** Largest change of a cell in the last sweep. Absent if no sweep ran. */
  readonly residual?: number
  /** The first check at which the tolerance was met. Absent without a tolerance, or if it was never met. */
  readonly converged?: { readonly iteration: number; readonly residual: number }
  readonly decomposition: Decomposition
  /** The number of blocks in a column and in a row of the process grid. */
  readonly grid: readonly [down: number, across: number]
  /** The block of each device that was used; `row` and `column` count inner cells from 0. */
  readonly blocks: readonly Pick<JacobiBlock, 'device' | 'row' | 'column' | 'rows' | 'columns'>[]
  readonly transport: HaloTransport
  /** Sweeps in one pass over memory: 1 or 4. */
  readonly sweepsPerPass: number
  /** Cell updates per second, in millions. */
  readonly megaUpdatesPerSecond: number
  readonly samples: readonly number[]
}

const optionTypes = {
  rows: 'number',
  columns: 'number',
  input: elementsOption,
  source: elementsOption,
  output: elementsOption,
  iterations: 'number',
  startIteration: 'number',
  tolerance: 'number',
  residualEvery: 'number',
  decomposition: ['1d', '2d'],
  transport: ['auto', 'copy', 'direct'],
  fuse: [true, false, 'auto'],
  devices: 'number',
  onProgress: 'function',
} as const

/**
 * Solves Poisson's equation by Jacobi sweeps on the devices of the group (NVIDIA's CUDA-aware MPI series,
 * part 4). The bits of the result depend neither on the number of devices nor on the decomposition.
 */
export async function jacobi(group: DeviceGroup, given: JacobiOptions): Promise<JacobiReport> {
  const options = requireArguments(group, 'jacobi', given, optionTypes, ['rows', 'columns'])
  const { rows, columns, iterations = 1000, startIteration = 0, residualEvery = 100, tolerance } = options
  const { schedule = 'overlapped', verify = true, warmup = characterOf(group).warmup, samples = 1 } = options
  for (const [name, value] of Object.entries({ rows, columns, iterations, startIteration }))
    requireCount(value, `The option ${name}`)
  requireCount(residualEvery, 'The option residualEvery', 1)
  if (tolerance !== undefined && !(tolerance >= 0))
    throw new GpuError('validation', `The tolerance is ${tolerance}; it must be 0 or more.`)
  const input = options.input ?? waveBoundary(rows, columns)
  requireElements('The input', input, 'f32', rows * columns)
  if (options.source) requireElements('The source', options.source, 'f32', rows * columns)
  if (options.output) requireElements('The output', options.output, 'f32', rows * columns)

  const { devices: count = group.devices.length } = options
  if (!(Number.isSafeInteger(count) && count >= 1 && count <= group.devices.length))
    throw new GpuError(
      'validation',
      `${count} devices were requested, but the group has ${group.devices.length}.`,
    )
  const devices = group.devices.slice(0, count)
  const hasSource = options.source !== undefined
  const decomposition = options.decomposition ?? defaultDecomposition(group, options)
  const fuse = chooseFusing(group, devices, options, decomposition)
  const transport = fuse
    ? 'copy'
    : chooseTransport(group, devices, rows * columns, options.transport ?? 'auto')
  const { onProgress } = options
  let warming = true
  const owned = new OwnedResources()
  try {
    const kernels = owned.keep(await compileJacobi(group, { transport, source: hasSource, fuse }))
    const field = owned.keep(
      await allocateField(group, rows, columns, decomposition, {
        source: hasSource,
        columnHalos: transport === 'copy',
        haloRows: fuse ? fusedSweeps : 1,
        devices: count,
      }),
    )
    const common = {
      iterations,
      residualEvery,
      ...(tolerance !== undefined && { tolerance }),
      ...(options.signal && { signal: options.signal }),
    }
    const iteration = owned.keep(
      new JacobiIteration(field, kernels, {
        ...common,
        schedule,
        ...(onProgress && {
          onProgress: ({ iteration: done, residual }) => {
            if (!warming) onProgress({ iteration: startIteration + done, residual })
          },
        }),
      }),
    )
    if (options.source && field.blocks.length > 0) await writeSource(field, options.source)
    if (field.blocks.length > 0 && iterations > 0) {
      const body = iteration.body()
      options.onProgram?.(body)
      if (options.trace) {
        await writeState(field, input)
        const { spans } = await group.queue.run(body, 1, { profile: true })
        options.trace(spans ?? [])
      }
    }
    const sweep = async (by = iteration) => {
      await writeState(field, input)
      return by.run()
    }
    const ran = countRuns(warmup + Math.max(1, samples), options.onRun)
    for (let run = 0; run < warmup; run++) {
      await sweep()
      ran()
    }
    warming = false
    let result = await sweep()
    ran()
    const times = [result.seconds]
    while (times.length < samples) {
      result = await sweep()
      ran()
      times.push(result.seconds)
    }
    const { parity, residual, converged, clock, iterations: done } = result
    if (options.output) await deliver(stateReader(field, parity, input), rows * columns, options.output)
    const verification = verify ? await verifyField(field, input, options.source, result) : notVerified
    let compared: Awaited<ReturnType<typeof compareSchedules>> | undefined
    if (options.compareSchedules && field.blocks.length > 0 && iterations > 0) {
      warming = true
      const other = owned.keep(
        new JacobiIteration(field, kernels, {
          ...common,
          schedule: schedule === 'serial' ? 'overlapped' : 'serial',
        }),
      )
      const timed = (by: JacobiIteration) => {
        const time = async () => (await sweep(by)).seconds
        return { warm: time, time }
      }
      compared = await compareSchedules(schedule, timed(iteration), timed(other), options)
    }
    const timed = compared?.samples ?? times
    const seconds = median(timed)
    const updates = Math.max(0, rows - 2) * Math.max(0, columns - 2) * done
    return {
      algorithm: 'jacobi',
      ...describeGroup(group, devices),
      schedule,
      shape: { rows, columns },
      iterations: startIteration + done,
      ...(residual !== undefined && { residual }),
      ...(converged && { converged: { ...converged, iteration: startIteration + converged.iteration } }),
      decomposition,
      grid: [field.grid.down, field.grid.across],
      blocks: field.grid.blocks.map(({ device, row, column, rows, columns }) => ({
        device,
        row,
        column,
        rows,
        columns,
      })),
      transport,
      sweepsPerPass: fuse ? fusedSweeps : 1,
      ...verification,
      seconds,
      clock,
      samples: timed,
      bytes: 8 * updates,
      rate: gigaRate(8 * updates, seconds),
      unit: 'GB/s',
      megaUpdatesPerSecond: gigaRate(updates, seconds) * 1e3,
      notes:
        field.blocks.length === 0 && done > 0
          ? ['The grid has no inner cells: every cell is on the boundary, which sweeps do not change.']
          : [],
      ...(compared && { comparison: compared.comparison }),
    }
  } finally {
    owned.destroy()
  }
}

function chooseTransport(
  group: DeviceGroup,
  devices: readonly Device[],
  cells: number,
  wanted: HaloTransport | 'auto',
): HaloTransport {
  if (wanted === 'copy') return wanted
  const denied = devices.flatMap((reader) =>
    devices.filter((owner) => !group.canAccessPeer(reader, owner)).map((owner) => [reader, owner] as const),
  )[0]
  if (wanted === 'direct' && denied)
    throw new GpuError(
      'unsupported',
      `Direct halos need peer access between all devices; device ${denied[0].ordinal} cannot access device ${denied[1].ordinal}.`,
    )
  if (wanted !== 'auto') return wanted
  const most = characterOf(group).jacobi.directCells
  return !denied && devices.length > 1 && cells / devices.length <= most ? 'direct' : 'copy'
}

function defaultDecomposition(group: DeviceGroup, { source, fuse, transport }: JacobiOptions): Decomposition {
  return characterOf(group).jacobi.fuses && !source && fuse !== false && transport !== 'direct' ? '1d' : '2d'
}

/** The grid size in cells above which fused sweeps are faster on a single device. */
const fusedCells = 2_097_152

/**
 * Whether sweeps are fused. Throws `unsupported` if the caller requests fused sweeps and they are impossible.
 */
function chooseFusing(
  group: DeviceGroup,
  devices: readonly Device[],
  options: JacobiOptions,
  decomposition: Decomposition,
): boolean {
  const { rows, columns, fuse = 'auto', source, transport = 'auto' } = options
  const { across, blocks } = decompose(
    Math.max(0, rows - 2),
    Math.max(0, columns - 2),
    devices.length,
    decomposition,
  )
  const limit = Math.min(...devices.map((device) => device.limits.maxStorageBindingByteLength))
  const obstacle =
    source !== undefined
      ? 'there is a source'
      : transport === 'direct'
        ? "the transport is 'direct'"
        : across > 1
          ? `the blocks are arranged in ${across} columns`
          : blocks.some((block) => block.rows < fusedSweeps)
            ? `a block has fewer than ${fusedSweeps} rows`
            : blocks.some((block) => (block.rows + 8) * (columns + 128) * 4 > limit)
              ? `a block exceeds the ${limit} bytes that a kernel can bind`
              : undefined
  if (fuse === true && obstacle) throw new GpuError('unsupported', `Sweeps cannot be fused: ${obstacle}.`)
  if (obstacle || fuse === false) return false
  const pays = blocks.length > 1 || rows * columns >= fusedCells
  return fuse === true || (characterOf(group).jacobi.fuses && blocks.length > 0 && pays)
}

/** Zero inside and on the top and bottom edges; one period of a sine down the left and right edges. */
export function waveBoundary(rows: number, columns: number): ElementReader<'f32'> {
  return (offset, into) => {
    into.fill(0)
    const length = into.length
    for (let row = Math.floor(offset / columns); row * columns < offset + length; row++)
      for (const column of [0, columns - 1]) {
        const at = row * columns + column - offset
        if (at >= 0 && at < length) into[at] = Math.sin((2 * Math.PI * row) / Math.max(1, rows - 1))
      }
  }
}

async function deliver(state: ElementReader<'f32'>, length: number, sink: ElementSink<'f32'>): Promise<void> {
  if (typeof sink !== 'function') return state(0, sink)
  for (let offset = 0; offset < length; offset += streamChunkLength) {
    const count = Math.min(streamChunkLength, length - offset)
    await sink(offset, await readElements(state, 'f32', offset, count))
  }
}
