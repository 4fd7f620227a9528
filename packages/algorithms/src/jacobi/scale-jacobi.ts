import type { DeviceGroup, ProgramSpan } from '@tandem-gpu/core'
import type { Decomposition } from './decomposition.ts'
import { type JacobiOptions, jacobi } from './jacobi.ts'

/** Options of `scaleJacobi`: those of `jacobi` that it does not choose itself. */
export type ScaleJacobiOptions = Omit<
  JacobiOptions,
  | 'devices'
  | 'decomposition'
  | 'transport'
  | 'fuse'
  | 'output'
  | 'trace'
  | 'tolerance'
  | 'onProgress'
  | 'onProgram'
> & {
  /** Called after every measurement. */
  readonly onFigure?: ((figure: ScalingFigure) => void) | undefined
}

/** One run of a strong-scaling study. */
export interface ScalingFigure {
  readonly devices: number
  readonly decomposition: Decomposition
  /** The number of blocks in a column and in a row of the process grid. */
  readonly grid: readonly [down: number, across: number]
  readonly seconds: number
  /** Cell updates per second, in millions. */
  readonly megaUpdatesPerSecond: number
  /** The time of one device divided by (number of devices × this time). */
  readonly efficiency: number
  /** The share of packing and unpacking in the time of all kernels. Absent if devices have no timestamps. */
  readonly packShare?: number
  /** False if there are neighbours only at the sides, so that no rows are sent while columns are packed. */
  readonly overlapsRows: boolean
  readonly verified: boolean
}

/**
 * Strong scaling of Jacobi sweeps, in bands of rows against blocks, on 1, 2, 3 … devices of the group
 * (NVIDIA's CUDA-aware MPI series, part 4). Halos are copied, and sweeps are not fused, which would only be
 * possible with bands. With a prime number of devices, blocks are split only in x.
 */
export async function scaleJacobi(group: DeviceGroup, options: ScaleJacobiOptions): Promise<ScalingFigure[]> {
  const { onFigure, ...given } = options
  const figures: ScalingFigure[] = []
  for (let devices = 1; devices <= group.devices.length; devices++)
    for (const decomposition of ['1d', '2d'] as const) {
      // One device has one block either way.
      if (devices === 1 && decomposition === '2d') continue
      let spans: readonly ProgramSpan[] = []
      const report = await jacobi(group, {
        ...given,
        devices,
        decomposition,
        transport: 'copy',
        fuse: false,
        trace(found) {
          spans = found
        },
      })
      const { seconds, megaUpdatesPerSecond, grid, verified } = report
      const alone = figures[0]?.seconds ?? seconds
      const packShare = shareOfPacking(spans)
      const figure: ScalingFigure = {
        devices,
        decomposition,
        grid,
        seconds,
        megaUpdatesPerSecond,
        efficiency: seconds > 0 ? alone / (devices * seconds) : 1,
        ...(packShare !== undefined && { packShare }),
        overlapsRows: grid[0] > 1,
        verified,
      }
      figures.push(figure)
      onFigure?.(figure)
    }
  return figures
}

function shareOfPacking(spans: readonly ProgramSpan[]): number | undefined {
  const total = (wanted: (span: ProgramSpan) => boolean) =>
    spans
      .filter((span) => span.kind === 'dispatch' && wanted(span))
      .reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0)
  const all = total(() => true)
  return all > 0 ? total(({ label }) => label === 'pack' || label === 'unpack') / all : undefined
}
