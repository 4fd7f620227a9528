import { type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import type { AlgorithmOptions, GeneratedInputOptions } from '../algorithm-options.ts'
import { characterOf } from '../device-character.ts'
import {
  type ElementSink,
  type ElementSource,
  generatedElements,
  requireElements,
} from '../element-source.ts'
import { elementsOption, requireArguments } from '../option-types.ts'
import { notVerified, type Report } from '../report.ts'
import { describeRun, runMeasured } from '../run-measured.ts'
import { allocateSharded, readSharded, writeSharded } from '../sharded-matrix.ts'
import type { TuningOptions } from '../tuning/tuning-store.ts'
import {
  chooseTransport,
  eachTile,
  type PeerTile,
  type RecordedTile,
  recordTranspose,
  type TileTransport,
  type TransposeTransportOptions,
  transposeTransportOptions,
} from './record-transpose.ts'
import {
  compileTranspose,
  type TransposeKernelOptions,
  type TransposeType,
  type TransposeVariant,
  transposeKernelOptions,
} from './transpose-kernels.ts'
import { choiceOptions, tuneTranspose } from './tune-transpose.ts'
import { verifyTranspose } from './verify-transpose.ts'

/**
 * Options of `transpose`. The input is `rows` × `columns`, the output `columns` × `rows`. If the caller sets
 * `kernel` or `chooseTransport`, nothing is tuned.
 */
export interface TransposeOptions<T extends TransposeType = TransposeType>
  extends AlgorithmOptions,
    GeneratedInputOptions,
    TuningOptions,
    TransposeTransportOptions,
    TransposeKernelOptions {
  readonly rows: number
  readonly columns: number
  readonly type: T
  /** `rows × columns` elements, row-major. Default: reproducible pseudo-random elements. */
  readonly input?: ElementSource<T> | undefined
  /** Receives `columns × rows` elements, row-major. */
  readonly output?: ElementSink<T> | undefined
}

/** The maximum number of devices for which a report lists each pair. */
const mostDevicesWithPeers = 64

/** The report of `transpose`. */
export interface TransposeReport extends Report {
  readonly algorithm: 'transpose'
  readonly type: TransposeType
  readonly shape: { readonly rows: number; readonly columns: number }
  /** The largest input slice: columns × rows, the order in which the book gives sizes. */
  readonly slice: readonly [columns: number, rows: number]
  /**
   * The largest tile that moves between devices (`p2pTile` in the book): columns × rows of the sender's
   * slice.
   */
  readonly tile: readonly [columns: number, rows: number]
  readonly kernel: TransposeVariant
  /** Name of the tuned choice; absent if nothing was tuned. */
  readonly choice?: string
  /** The tile of one workgroup. */
  readonly kernelTile: readonly [columns: number, rows: number]
  readonly workgroup: readonly [x: number, y: number]
  /** Workgroups that cover the largest tile. */
  readonly grid: readonly [x: number, y: number]
  readonly stages: number
  /**
   * For each transport, the number of tiles that moved between devices and that this process sent or
   * received.
   */
  readonly transports: Readonly<Record<TileTransport, number>>
  /**
   * `peerAccess[i][j]` is true if kernels of device i can access the memory of device j. Absent for more than
   * 64 devices.
   */
  readonly peerAccess?: readonly (readonly boolean[])[]
}

const optionTypes = {
  rows: 'number',
  columns: 'number',
  type: 'string',
  input: elementsOption,
  output: elementsOption,
  ...transposeKernelOptions,
  ...transposeTransportOptions,
} as const

const setsKernels = (options: TransposeKernelOptions) =>
  Object.keys(transposeKernelOptions).some(
    (name) => options[name as keyof TransposeKernelOptions] !== undefined,
  )

/**
 * Transposes a row-major matrix of any size on all devices of the group, each of which holds a slice of rows
 * of the input and of the output. Method: Ruetsch and Fatica, CUDA Fortran for Scientists and Engineers,
 * chapter 4. `bytes` counts one read and one write of every element. The check is exact, bit for bit. Rejects
 * with `validation` for wrong options, and with `unsupported` for a transport that needs peer access between
 * devices without it.
 */
export async function transpose<T extends TransposeType>(
  group: DeviceGroup,
  given: TransposeOptions<T>,
): Promise<TransposeReport> {
  const options = requireArguments(group, 'transpose', given, optionTypes, ['rows', 'columns', 'type'])
  const { rows, columns, type, verify = true } = options
  const source = options.input ?? generatedElements(type, options.seed)
  const owned = new OwnedResources()
  try {
    const input = owned.keep(
      await allocateSharded(group, type, rows, columns, { label: 'input', zero: false }),
    )
    const output = owned.keep(await allocateSharded(group, type, columns, rows, { label: 'output' }))
    if (options.output) requireElements('The output', options.output, type, rows * columns)
    await writeSharded(group, input, source)

    const { transport = 'auto' } = options
    const free = options.chooseTransport === undefined && !setsKernels(options)
    const tuned =
      options.tuning && free && characterOf(group).tunes && group.rankCount === 1
        ? await tuneTranspose(group, input, output, options)
        : undefined
    const chosen = { ...options, ...(tuned && choiceOptions(tuned.choice)) }
    const choose = chosen.chooseTransport ?? chooseTransport
    const scattersTile = (tile: PeerTile) =>
      tile.sender !== tile.receiver && (transport === 'auto' ? choose(tile, group) : transport) === 'scatter'
    let scatters = false
    for (const tile of eachTile(input, output)) scatters ||= scattersTile(tile)
    const kernel = owned.keep(await compileTranspose(group, { ...chosen, scatter: scatters }))

    let tiles: RecordedTile[] = []
    const run = await runMeasured(
      group,
      (recorder) => {
        tiles = recordTranspose(recorder, group, { ...chosen, kernel, input, output })
      },
      { ...options, label: `transpose ${rows} × ${columns}` },
    )

    const check = verify ? await verifyTranspose(group, source, output) : notVerified
    if (options.output) await readSharded(group, output, options.output)

    const sliceRows = input.slices[0]!.rows
    const tileColumns = output.slices[0]!.rows
    const count = (transport: TileTransport) => tiles.filter((tile) => tile.transport === transport).length
    const transports = { copy: count('copy'), direct: count('direct'), scatter: count('scatter') }
    const used = (transports.scatter > 0 && kernel.scatter) || kernel
    const [x, y] = used.kernel.workgroupSize
    const ordinals = group.devices.map((device) => device.ordinal)
    return {
      algorithm: 'transpose',
      ...describeRun(group, run, { bytes: 2 * rows * columns * 4 }),
      type,
      shape: { rows, columns },
      slice: [columns, sliceRows],
      tile: [tileColumns, sliceRows],
      kernel: kernel.variant,
      ...(tuned ? { choice: tuned.name } : {}),
      kernelTile: used.tile,
      workgroup: [x, y],
      grid: [Math.ceil(tileColumns / used.tile[0]), Math.ceil(sliceRows / used.tile[1])],
      stages: group.devices.length,
      transports,
      ...(ordinals.length <= mostDevicesWithPeers && {
        peerAccess: ordinals.map((reader) => ordinals.map((owner) => group.canAccessPeer(reader, owner))),
      }),
      ...check,
      notes: [],
    }
  } finally {
    owned.destroy()
  }
}
