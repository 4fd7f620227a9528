import {
  type BufferView,
  type DeviceGroup,
  describedValue,
  type ElementType,
  GpuError,
  type Recorder,
  requireCount,
} from '@tandem-gpu/core'
import type { OptionTypesOf } from '../option-types.ts'
import { requireResult } from '../require-result.ts'
import { requireMatrix, type ShardedMatrix } from '../sharded-matrix.ts'
import { dispatchTranspose } from './dispatch-transpose.ts'
import { type MessageTile, recordMessages } from './record-messages.ts'
import { recordScatter } from './record-scatter.ts'
import { scattersByDefault, type TransposeKernel } from './transpose-kernels.ts'

const tileTransports = ['copy', 'direct', 'scatter'] as const

/**
 * How a tile reaches its receiver: `copy` moves it into scratch memory of the receiver, which transposes it
 * there; `direct` lets the receiver's kernel read the sender's memory; `scatter` lets the sender's kernel
 * write the receiver's memory, one dispatch for all tiles of a sender, its own included. `direct` and
 * `scatter` need peer access, of the reader and of the writer.
 */
export type TileTransport = (typeof tileTransports)[number]

/** One tile of the peer-to-peer scheme: it moves from device `sender` to device `receiver`. */
export interface PeerTile {
  readonly sender: number
  readonly receiver: number
  /** Its position in the sender's slice. */
  readonly rows: number
  readonly columns: number
  readonly byteLength: number
}

/** A tile and its transport; `local`: sender and receiver are the same device. */
export interface RecordedTile extends PeerTile {
  readonly transport: TileTransport | 'local'
}

/**
 * How a tile is recorded: as a message between processes, as a copy and a transpose, in its sender's dispatch
 * for all receivers, or in a dispatch of its own.
 */
type Way = 'message' | 'copied' | 'scattered' | 'in place'

/** The options of `transpose` that change how tiles move: it takes them from here. */
export interface TransposeTransportOptions {
  /**
   * Default `auto`: see `chooseTransport`. `direct` and `scatter` are `unsupported` for a pair without the
   * access that they need.
   */
  readonly transport?: TileTransport | 'auto' | undefined
  /**
   * If `transport` is `auto`, chooses for each tile that moves to another device. Pairs without the peer
   * access that the choice needs use `copy`.
   */
  readonly chooseTransport?: ((tile: PeerTile, group: DeviceGroup) => TileTransport) | undefined
}

export const transposeTransportOptions = {
  transport: ['auto', ...tileTransports],
  chooseTransport: 'function',
} as const satisfies OptionTypesOf<TransposeTransportOptions>

/** Options of `recordTranspose`. */
export interface RecordTransposeOptions<T extends ElementType> extends TransposeTransportOptions {
  readonly kernel: TransposeKernel
  readonly input: ShardedMatrix<T>
  /** Has the input's type, as many rows as the input has columns, and as many columns as it has rows. */
  readonly output: ShardedMatrix<T>
  /**
   * The number of parts in which a tile moves between processes. Default: two for tiles of 64 MiB and more,
   * if the kernel has passes that can overlap with messages.
   */
  readonly messageParts?: number | undefined
}

/**
 * The order of work of Ruetsch and Fatica (CUDA Fortran for Scientists and Engineers, chapter 4): in stage k
 * every device receives one tile, from device `(k + receiver) mod N`; stage 0 is local. Tiles without
 * elements are left out; with `touches`, by device, so are those that no such device sends or receives.
 */
export function* eachTile(
  input: ShardedMatrix,
  output: ShardedMatrix,
  touches?: readonly boolean[],
): Generator<PeerTile> {
  const devices = input.slices.length
  for (let stage = 0; stage < devices; stage++)
    for (let receiver = 0; receiver < devices; receiver++) {
      const sender = (stage + receiver) % devices
      if (touches !== undefined && !touches[sender] && !touches[receiver]) continue
      const rows = input.slices[sender]!.rows
      const columns = output.slices[receiver]!.rows
      if (rows * columns > 0) yield { sender, receiver, rows, columns, byteLength: rows * columns * 4 }
    }
}

/**
 * Default choice for a tile: `scatter` between GPUs, `direct` between devices of one adapter, which share one
 * memory, so that a copy is only extra work. With both directions of every link busy, writes pass more data
 * than reads: on 4 H200s, each of which receives 805 MB of 32768² f32, kernels that read their peers reach
 * 326 GB/s whatever their tiles (2.47 ms), kernels that write to them 354 GB/s (2.27 ms, their own tile
 * included). Copies that the senders' engines make reach 387 GB/s (2.08 ms), but need scratch memory, a
 * second pass over it, and the transpose of the tile that arrives last: 2.29 ms in all.
 */
export function chooseTransport(
  { sender, receiver }: PeerTile,
  { software, devices }: DeviceGroup,
): TileTransport {
  return scattersByDefault({ software, devices: [devices[sender]!, devices[receiver]!] })
    ? 'scatter'
    : 'direct'
}

/**
 * Records `output = transpose(input)` over all devices of `group`. Both matrices are sharded over the group
 * in row slices, of any size and leading dimension, and must not share memory. Within each receiver a tile's
 * transfer precedes its transpose; everything else is free to overlap. Returns the tiles that this process
 * takes part in.
 */
export function recordTranspose<T extends ElementType>(
  recorder: Recorder,
  group: DeviceGroup,
  options: RecordTransposeOptions<T>,
): RecordedTile[] {
  const { kernel, input, output, transport = 'auto' } = options
  requireResult(kernel, 'tile', 'The kernel of recordTranspose', 'a value that compileTranspose returned')
  requireMatrix(input, 'The input of recordTranspose')
  requireMatrix(output, 'The output of recordTranspose')
  requireTransposable(group, input, output)
  const { messageParts } = options
  if (messageParts !== undefined) requireCount(messageParts, 'The option messageParts', 1)
  const touches = recorder.devices.map(({ ordinal }) => recorder.touches(ordinal))
  const tiles = [...eachTile(input, output, touches)].map((peer): RecordedTile => {
    return { ...peer, transport: peer.sender === peer.receiver ? 'local' : chosen(peer) }
  })
  /** The kernels of these senders write all tiles that they send, and also their own tile. */
  const scattering = new Set(
    tiles.filter(({ transport }) => transport === 'scatter').map(({ sender }) => sender),
  )
  const travelling = (way: Way) => tiles.filter((tile) => wayOf(tile) === way)
  recordMessages(recorder, kernel, input.type, travelling('message').map(messageOf), (workgroups) => {
    const unscattered = recordScattered(travelling('scattered'))
    recordInPlace([...unscattered, ...travelling('in place')], workgroups)
    recordCopied(travelling('copied'))
  })
  return tiles

  function wayOf(tile: RecordedTile): Way {
    const { transport, sender } = tile
    if (transport === 'copy') return isBetweenRanks(tile) ? 'message' : 'copied'
    return transport !== 'direct' && scattering.has(sender) ? 'scattered' : 'in place'
  }

  /**
   * One dispatch for each sender writes all of its tiles. Returns those of senders for which such a dispatch
   * is not possible.
   */
  function recordScattered(all: readonly RecordedTile[]): RecordedTile[] {
    if (all.length === 0) return []
    const { scatter } = kernel
    if (scatter === undefined)
      throw new GpuError(
        'validation',
        "Transport 'scatter' needs the scattering kernel: compile it with compileTranspose(group, { type, scatter: true }).",
      )
    return input.slices.flatMap(({ device, view }) => {
      const sent = all
        .filter(({ sender }) => sender === device.ordinal)
        .sort((one, other) => one.receiver - other.receiver)
      const blocks = sent.map((tile) => ({
        receiver: tile.receiver,
        column: output.slices[tile.receiver]!.row,
        target: targetOf(tile),
      }))
      if (sent.length === 0 || recordScatter(recorder, scatter, device.ordinal, view, blocks)) return []
      return sent
    })
  }

  /**
   * One device reads the tile in place and writes it to its destination: the sender if its kernels write the
   * receiver's memory, otherwise the receiver.
   */
  function recordInPlace(read: readonly RecordedTile[], workgroups?: number): void {
    for (const tile of read)
      transposeTile(
        tile,
        tile.transport === 'scatter' ? tile.sender : tile.receiver,
        sourceOf(tile),
        workgroups,
      )
  }

  /**
   * The book's scheme: a tile is copied into scratch memory of its receiver, which transposes it there. Every
   * copy is recorded before the first transpose, because a GPU handles waits in recorded order: if each
   * transpose were recorded right after its own copy, the first would also wait for copies that it does not
   * need.
   */
  function recordCopied(moved: readonly RecordedTile[]): void {
    const arrivals = moved.map((tile) => {
      const { receiver, rows, columns } = tile
      const label = `arrival of ${nameOf(tile)}`
      const arrival = recorder
        .scratch(receiver, input.type, [rows, columns], { label })
        .block(0, 0, rows, columns)
      recorder.copy(sourceOf(tile), arrival, { label: `copy ${nameOf(tile)}` })
      return { tile, arrival }
    })
    for (const { tile, arrival } of arrivals)
      if (touches[tile.receiver]) transposeTile(tile, tile.receiver, arrival)
  }

  function transposeTile(tile: PeerTile, device: number, source: BufferView<T>, workgroups?: number): void {
    const label = `transpose ${nameOf(tile)}`
    dispatchTranspose(recorder, kernel, { device, source, target: targetOf(tile), label }, workgroups)
  }

  function messageOf(tile: RecordedTile): MessageTile<T> {
    const { sender, receiver, byteLength } = tile
    const parts =
      messageParts ?? (kernel.persistent === undefined || byteLength < leastByteLengthInParts ? 1 : 2)
    return { name: nameOf(tile), sender, receiver, source: sourceOf(tile), target: targetOf(tile), parts }
  }

  function isBetweenRanks({ sender, receiver, transport }: RecordedTile): boolean {
    const ranks = [sender, receiver].map((ordinal) => recorder.devices[ordinal]!.rank)
    return transport === 'copy' && ranks[0] !== ranks[1] && !group.canAccessPeer(receiver, sender)
  }

  /** The tile in the sender's slice. */
  function sourceOf({ sender, receiver, rows, columns }: PeerTile): BufferView<T> {
    return input.slices[sender]!.view.block(0, output.slices[receiver]!.row, rows, columns)
  }

  /** The position of the transposed tile in the receiver's slice. */
  function targetOf({ sender, receiver, rows, columns }: PeerTile): BufferView<T> {
    return output.slices[receiver]!.view.block(0, input.slices[sender]!.row, columns, rows)
  }

  function chosen(tile: PeerTile): TileTransport {
    const { sender, receiver } = tile
    const reaches = (way: TileTransport) =>
      way === 'copy' ||
      (way === 'direct' ? group.canAccessPeer(receiver, sender) : group.canAccessPeer(sender, receiver))
    if (transport === 'auto') {
      const wanted = (options.chooseTransport ?? chooseTransport)(tile, group)
      if (!tileTransports.includes(wanted))
        throw new GpuError(
          'validation',
          `chooseTransport returned ${describedValue(wanted)} for the tile from device ${sender} to device ${receiver}; it must return 'copy', 'direct' or 'scatter'.`,
        )
      return reaches(wanted) ? wanted : 'copy'
    }
    if (reaches(transport)) return transport
    const [user, owner] = transport === 'direct' ? [receiver, sender] : [sender, receiver]
    throw new GpuError(
      'unsupported',
      `Device ${user} cannot access the memory of device ${owner}, which transport '${transport}' needs; use 'copy'.`,
    )
  }
}

/**
 * Tiles from this size on move in two parts. With more parts, less work is done while nothing moves, but
 * messages of 256 MiB and less use half of NCCL's blocks.
 */
const leastByteLengthInParts = 64 * 1024 * 1024

const nameOf = ({ receiver, sender }: PeerTile) => `tile (${receiver}, ${sender})`

function requireTransposable(group: DeviceGroup, input: ShardedMatrix, output: ShardedMatrix): void {
  if (input.type !== output.type)
    throw new GpuError(
      'validation',
      `The input has type ${input.type}, but the output has type ${output.type}.`,
    )
  if (input.rows !== output.columns || input.columns !== output.rows)
    throw new GpuError(
      'validation',
      `The transpose of ${input.rows} × ${input.columns} is ${input.columns} × ${input.rows}, but the output is ${output.rows} × ${output.columns}.`,
    )
  for (const matrix of [input, output])
    if (matrix.slices.length !== group.devices.length)
      throw new GpuError(
        'validation',
        `The matrix has ${matrix.slices.length} slices, but the group has ${group.devices.length} devices.`,
      )
}
