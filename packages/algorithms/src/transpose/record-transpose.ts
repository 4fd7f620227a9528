import type { BufferView, DeviceGroup, ElementType, Recorder } from '@tandem-gpu/core'
import { GpuError } from '@tandem-gpu/core'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import { bindingReach, recordGather } from './record-gather.ts'
import type { TransposeKernel } from './transpose-kernels.ts'

/**
 * How a tile reaches the device that transposes it: `copy` moves it into scratch memory of the receiver and transposes
 * there; `direct` lets the receiver's kernel read the sender's memory; `gather` is `direct` with one dispatch for all tiles of a
 * receiver, its own included. `direct` and `gather` need peer access.
 */
export type Transport = 'copy' | 'direct' | 'gather'

/** One tile of the peer-to-peer scheme: it moves from device `sender` to device `receiver` in stage `stage`. */
export interface PeerTile {
  readonly stage: number
  readonly sender: number
  readonly receiver: number
  /** As it lies in the sender's slice. */
  readonly rows: number
  readonly columns: number
  readonly byteLength: number
}

export interface RecordedTile extends PeerTile {
  readonly transport: Transport | 'local'
}

export interface RecordTransposeOptions<T extends ElementType> {
  readonly kernel: TransposeKernel
  readonly input: ShardedMatrix<T>
  readonly output: ShardedMatrix<T>
  /** Default `auto`: see `chooseTransport`. `direct` and `gather` are `unsupported` for a pair without peer access. */
  readonly transport?: Transport | 'auto'
  /** Decides for each tile that has to travel, where `transport` is `auto` and the pair has peer access. Default: `direct`. */
  readonly chooseTransport?: (tile: PeerTile, group: DeviceGroup) => Transport
  /** Parts that a copied tile travels in, so that the transpose of one overlaps the copy of the next. Default by size. */
  readonly piecesPerTile?: number
  /**
   * Pieces that a receiver has room for at once. Default: every tile where they travel whole, else at least six, more than
   * a GPU has copy engines, so that the link stays busy while arrived pieces are transposed.
   */
  readonly arrivalSlots?: number
}

/**
 * The order of work of Ruetsch and Fatica (CUDA Fortran for Scientists and Engineers, chapter 4): in stage k every device
 * receives one tile, from device `(k + receiver) mod N`; stage 0 is local. Tiles without elements are left out.
 */
export function transposeTiles(input: ShardedMatrix, output: ShardedMatrix): PeerTile[] {
  const devices = input.slices.length
  const tiles: PeerTile[] = []
  for (let stage = 0; stage < devices; stage++)
    for (let receiver = 0; receiver < devices; receiver++) {
      const sender = (stage + receiver) % devices
      const rows = input.slices[sender]!.rows
      const columns = output.slices[receiver]!.rows
      if (rows * columns > 0)
        tiles.push({ stage, sender, receiver, rows, columns, byteLength: rows * columns * 4 })
    }
  return tiles
}

/**
 * Default choice for a tile that the receiver could read in place: `direct` at every size. Adapters that run on the CPU share one memory,
 * so that a copy is only extra work. On hardware a kernel that reads its peer starts sooner, and needs neither scratch memory nor a
 * second pass over it: on 4 H200s 2.53 ms against 2.6–3.8 ms of copies, whatever their pieces, at 32768², 0.17–0.20 against 0.22–0.30 ms
 * at 8192².
 */
export function chooseTransport(_tile: PeerTile, _group: DeviceGroup): Transport {
  return 'direct'
}

/**
 * Records `output = transpose(input)` over all devices of `group`. Both matrices are sharded over the group in row slices, of
 * any size and leading dimension, and must not share memory. Within each receiver a tile's transfer precedes its transpose;
 * everything else is free to overlap.
 */
export function recordTranspose<T extends ElementType>(
  recorder: Recorder,
  group: DeviceGroup,
  options: RecordTransposeOptions<T>,
): RecordedTile[] {
  const { kernel, input, output, transport = 'auto' } = options
  requireTransposable(group, input, output)
  const tiles = transposeTiles(input, output).map((tile) => ({
    ...tile,
    transport: tile.sender === tile.receiver ? ('local' as const) : chosen(tile),
  }))
  const gathered = recordGathered()
  const rings = new Map<number, ScratchRing<T>>()
  for (const tile of tiles) {
    if (gathered.has(tile)) continue
    const { sender, receiver, rows, columns } = tile
    const source = input.slices[sender]!.view.block(0, output.slices[receiver]!.row, rows, columns)
    const target = output.slices[receiver]!.view.block(0, input.slices[sender]!.row, columns, rows)
    const label = `tile (${receiver}, ${sender})`
    if (tile.transport !== 'copy') {
      dispatchTranspose(recorder, kernel, receiver, source, target, `transpose ${label}`)
      continue
    }
    const height = pieceRows(tile)
    let ring = rings.get(receiver)
    if (!ring) {
      ring = makeRing(
        recorder,
        input.type,
        tiles.filter((other) => other.receiver === receiver && other.transport === 'copy'),
        pieceRows,
        options.arrivalSlots,
      )
      rings.set(receiver, ring)
    }
    for (let row = 0; row < rows; row += height) {
      const count = Math.min(height, rows - row)
      const piece = height < rows ? `${label} row ${row}` : label
      const scratch = ring.next(count, columns)
      recorder.copy(source.block(row, 0, count, columns), scratch, { label: `copy ${piece}` })
      const part = target.block(0, row, columns, count)
      dispatchTranspose(recorder, kernel, receiver, scratch, part, `transpose ${piece}`)
    }
  }
  return tiles

  /** Gathers each receiver's tiles that are to be; returns those that it recorded. The rest are transposed one by one. */
  function recordGathered(): ReadonlySet<RecordedTile> {
    const done = new Set<RecordedTile>()
    for (const { device, view } of output.slices) {
      const receiver = device.ordinal
      const wanted = tiles.filter(
        ({ receiver: to, transport }) => to === receiver && (transport === 'gather' || transport === 'local'),
      )
      if (!wanted.some(({ transport }) => transport === 'gather')) continue
      if (kernel.gather === undefined)
        throw new GpuError(
          'validation',
          "Transport 'gather' needs the gathering kernel: compile it with compileTranspose(group, type, variant, gatherTile).",
        )
      const blocks = wanted
        .map(({ sender, rows, columns }) => ({
          sender,
          source: input.slices[sender]!.view.block(0, output.slices[receiver]!.row, rows, columns),
          column: input.slices[sender]!.row,
        }))
        .sort((a, b) => a.column - b.column)
      if (recordGather(recorder, kernel.gather, receiver, blocks, view))
        for (const tile of wanted) done.add(tile)
    }
    return done
  }

  function pieceRows({ rows, byteLength }: PeerTile): number {
    const pieces = options.piecesPerTile ?? (byteLength >= 33_554_432 ? 4 : 1)
    return Math.ceil(rows / Math.max(1, pieces))
  }

  function chosen(tile: PeerTile): Transport {
    const reachable = group.canAccessPeer(tile.receiver, tile.sender)
    if ((transport === 'direct' || transport === 'gather') && !reachable)
      throw new GpuError(
        'unsupported',
        `Device ${tile.receiver} has no access to the memory of device ${tile.sender}, which transport '${transport}' needs; use 'copy'.`,
      )
    if (transport !== 'auto') return transport
    return reachable ? (options.chooseTransport ?? chooseTransport)(tile, group) : 'copy'
  }
}

/** Scratch tiles of one receiver, used in turn: reuse orders a copy after the transpose that read the slot before. */
interface ScratchRing<T extends ElementType> {
  next(rows: number, columns: number): BufferView<T>
}

function makeRing<T extends ElementType>(
  recorder: Recorder,
  type: T,
  arriving: readonly PeerTile[],
  pieceRows: (tile: PeerTile) => number,
  wanted = Math.max(arriving.length, 6),
): ScratchRing<T> {
  const device = arriving[0]!.receiver
  const pieces = arriving.reduce((sum, tile) => sum + Math.ceil(tile.rows / pieceRows(tile)), 0)
  const length = Math.max(...arriving.map((tile) => pieceRows(tile) * tile.columns))
  const slots = Math.max(1, Math.min(pieces, wanted))
  const buffers = Array.from({ length: slots }, (_, slot) =>
    recorder.scratch(device, type, length, { label: `arrivals ${device}.${slot}` }),
  )
  let used = 0
  return {
    next(rows, columns) {
      return buffers[used++ % slots]!.slice(0, rows * columns).reshape(rows, columns)
    },
  }
}

/** One block on one device, in as many dispatches as binding sizes and grid limits demand (nearly always one). */
function dispatchTranspose(
  recorder: Recorder,
  { kernel, tile }: TransposeKernel,
  ordinal: number,
  source: BufferView,
  target: BufferView,
  label: string,
): void {
  const { limits } = recorder.devices[ordinal]!
  const reach = bindingReach(recorder, ordinal)
  const grid = limits.maxWorkgroupsPerDimension
  const rows = Math.max(1, Math.min(source.rows, grid * tile[1], Math.floor(reach / source.stride), reach))
  const columns = Math.max(
    1,
    Math.min(source.columns, grid * tile[0], Math.floor(reach / target.stride), reach),
  )
  for (let row = 0; row < source.rows; row += rows)
    for (let column = 0; column < source.columns; column += columns) {
      const height = Math.min(rows, source.rows - row)
      const width = Math.min(columns, source.columns - column)
      recorder.dispatch(kernel, {
        device: ordinal,
        workgroups: [Math.ceil(width / tile[0]), Math.ceil(height / tile[1])],
        args: {
          input: source.block(row, column, height, width),
          output: target.block(column, row, width, height),
        },
        label,
      })
    }
}

function requireTransposable(group: DeviceGroup, input: ShardedMatrix, output: ShardedMatrix): void {
  if (input.type !== output.type)
    throw new GpuError('validation', `The input holds ${input.type}, the output ${output.type}.`)
  if (input.rows !== output.columns || input.columns !== output.rows)
    throw new GpuError(
      'validation',
      `The transpose of ${input.rows} × ${input.columns} is ${input.columns} × ${input.rows}, the output is ${output.rows} × ${output.columns}.`,
    )
  for (const matrix of [input, output])
    if (matrix.slices.length !== group.devices.length)
      throw new GpuError(
        'validation',
        `The matrix has ${matrix.slices.length} slices, the group ${group.devices.length} devices.`,
      )
}
