import { splitRows } from '@tandem-gpu/algorithms'
import {
  type BufferView,
  compileAll,
  type DeviceGroup,
  type Kernel,
  OwnedResources,
  type Recorder,
} from '@tandem-gpu/core'
import { blur, edges } from './pipeline.wgsl.ts'

/**
 * Red, green, blue and alpha of each pixel, a byte each, row after row: as `ImageData` and image libraries
 * have them.
 */
export interface Image {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** A device's rows of the image, with one row of each neighbour above and below: its halo. */
interface Band {
  readonly first: number
  readonly rows: number
  /** Rows of halo above and below: 0 at the edge of the image. */
  readonly above: 0 | 1
  readonly below: 0 | 1
  /** Two copies, which the steps read and write in turn. */
  readonly copies: readonly [BufferView<'u8'>, BufferView<'u8'>]
}

/**
 * Blurs the image `blurs` times and finds its edges, each device a band of rows. The result is the same on
 * any number of devices.
 */
export async function findEdges(
  group: DeviceGroup,
  { width, height, pixels }: Image,
  blurs = 2,
): Promise<Image> {
  const rowLength = 4 * width
  const owned = new OwnedResources()
  try {
    const { kernels } = owned.keep(await compileAll(group, { blur, edges }))
    const bands: Band[] = []
    for (const [ordinal, { row, rows }] of splitRows(height, group.devices.length).entries()) {
      if (rows === 0) continue
      const above = row > 0 ? 1 : 0
      const below = row + rows < height ? 1 : 0
      const make = async () =>
        owned.keep(await group.devices[ordinal]!.allocate('u8', [above + rows + below, rowLength]))
      bands.push({ first: row, rows, above, below, copies: [await make(), await make()] })
    }
    for (const { first, rows, above, below, copies } of bands)
      await group.queue.write(
        copies[0],
        pixels.subarray((first - above) * rowLength, (first + rows + below) * rowLength),
      )

    const steps: Kernel[] = [...Array<Kernel>(blurs).fill(kernels.blur), kernels.edges]
    const program = owned.keep(
      group.record((recorder) => {
        for (const [step, kernel] of steps.entries()) {
          const [from, to] = step % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
          for (const band of bands) recordStep(recorder, kernel, band, from, to)
          if (step < steps.length - 1) recordHalos(recorder, bands, to)
        }
      }),
    )
    await group.queue.run(program)
    const result = new Uint8Array(height * rowLength)
    for (const { first, rows, above, copies } of bands)
      result.set(
        await group.queue.read(copies[(steps.length % 2) as 0 | 1].block(above, 0, rows, rowLength)),
        first * rowLength,
      )
    return { width, height, pixels: result }
  } finally {
    owned.destroy()
  }
}

function recordStep(
  recorder: Recorder,
  kernel: Kernel,
  { rows, above, copies }: Band,
  from: 0 | 1,
  to: 0 | 1,
): void {
  const { columns } = copies[from]
  recorder.dispatch(kernel, {
    workgroups: [Math.ceil(columns / 4 / 8), Math.ceil(rows / 8)],
    args: { source: copies[from], result: copies[to].block(above, 0, rows, columns), halo: above },
  })
}

/** Each band gets the edge rows of its neighbours. Only the rows that a copy touches wait for it. */
function recordHalos(recorder: Recorder, bands: readonly Band[], at: 0 | 1): void {
  for (const [index, upper] of bands.slice(0, -1).entries()) {
    const lower = bands[index + 1]!
    const row = ({ copies }: Band, number: number) => copies[at].block(number, 0, 1, copies[at].columns)
    recorder.copy(row(upper, upper.above + upper.rows - 1), row(lower, 0), { label: 'halo' })
    recorder.copy(row(lower, lower.above), row(upper, upper.above + upper.rows), { label: 'halo' })
  }
}
