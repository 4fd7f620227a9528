import type { BufferView, CompileOptions, DeviceGroup, ElementType, Kernel, Recorder } from '@tandem-gpu/core'
import { GpuError } from '@tandem-gpu/core'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import registersWgsl from './transpose-registers.wgsl.ts'
import squareWgsl from './transpose-square.wgsl.ts'
import stripsWgsl from './transpose-strips.wgsl.ts'

/**
 * How a tile reaches the device that transposes it: `copy` moves it into scratch memory of the receiver and transposes
 * there; `direct` lets the receiver's kernel read the sender's memory, which needs peer access.
 */
export type Transport = 'copy' | 'direct'

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
  /** Default `auto`: see `chooseTransport`. `direct` is `unsupported` for a pair without peer access. */
  readonly transport?: Transport | 'auto'
  /** Decides for each tile that has to travel, where `transport` is `auto` and the pair has peer access. */
  readonly chooseTransport?: (tile: PeerTile, group: DeviceGroup) => Transport
  /** Parts that a copied tile travels in, so that the transpose of one overlaps the copy of the next. Default by size. */
  readonly piecesPerTile?: number
  /**
   * Pieces that a receiver has room for at once. Default: every tile where they travel whole, else at least six, more than
   * a GPU has copy engines, so that the link stays busy while arrived pieces are transposed.
   */
  readonly arrivalSlots?: number
}

const transposeTypes = ['f32', 'i32', 'u32'] as const
export type TransposeType = (typeof transposeTypes)[number]

/**
 * `square`: the source's kernel, 32 × 32 tiles through workgroup memory. `strips`: 32 × 64 tiles in an order that suits memory
 * better. `registers`: no barriers, for adapters on the CPU.
 */
export type TransposeVariant = keyof typeof variants

const variants = {
  square: { wgsl: squareWgsl, tile: [32, 32] },
  strips: { wgsl: stripsWgsl, tile: [32, 64] },
  registers: { wgsl: registersWgsl, tile: [32, 32] },
} as const

export interface TransposeKernel {
  readonly kernel: Kernel
  readonly variant: TransposeVariant
  /** What one workgroup transposes. */
  readonly tile: readonly [columns: number, rows: number]
  destroy(): void
}

/** Compiles the transpose kernel; default: `strips`, or `registers` where the adapter is the CPU. */
export async function compileTranspose(
  group: DeviceGroup,
  type: ElementType,
  variant: TransposeVariant = group.software ? 'registers' : 'strips',
): Promise<TransposeKernel> {
  const kernel = await group.compile(transposeSource(type, variant))
  return { kernel, variant, tile: variants[variant].tile, destroy: () => kernel.destroy() }
}

function transposeSource(type: ElementType, variant: TransposeVariant): CompileOptions {
  if (!transposeTypes.includes(type as TransposeType))
    throw new GpuError('unsupported', `The transpose takes f32, i32 or u32, not ${type}.`)
  if (!Object.hasOwn(variants, variant))
    throw new GpuError(
      'validation',
      `There is no transpose kernel ${variant}: choose ${Object.keys(variants).join(', ')}.`,
    )
  return {
    label: `transpose-${variant} ${type}`,
    wgsl: `alias Element = ${type};\n${variants[variant].wgsl}`,
  }
}

/** Every kernel that the transpose can use: for tests and for compilation ahead of time. */
export function transposeSources(): CompileOptions[] {
  const names = Object.keys(variants) as TransposeVariant[]
  return transposeTypes.flatMap((type) => names.map((variant) => transposeSource(type, variant)))
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
 * Default choice for a tile that the receiver could read in place. Adapters that run on the CPU share one memory, so that a
 * copy is only extra work. On hardware a kernel that reads its peer starts sooner, and a copy engine moves large tiles
 * faster; on 4 H200s the two meet at tiles of about 64 MiB.
 */
export function chooseTransport(tile: PeerTile, group: DeviceGroup): Transport {
  return group.software || tile.byteLength < 67_108_864 ? 'direct' : 'copy'
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
  const rings = new Map<number, ScratchRing<T>>()
  for (const tile of tiles) {
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

  function pieceRows({ rows, byteLength }: PeerTile): number {
    const pieces = options.piecesPerTile ?? (byteLength >= 33_554_432 ? 4 : 1)
    return Math.ceil(rows / Math.max(1, pieces))
  }

  function chosen(tile: PeerTile): Transport {
    const reachable = group.canAccessPeer(tile.receiver, tile.sender)
    if (transport === 'direct' && !reachable)
      throw new GpuError(
        'unsupported',
        `Device ${tile.receiver} has no access to the memory of device ${tile.sender}, which transport 'direct' needs; use 'copy'.`,
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
  // Indices are 32-bit, and a bound range may start up to 256 bytes before its view.
  const reach = Math.floor(Math.min(limits.maxStorageBindingByteLength, 8_589_934_592) / 4) - 64
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
