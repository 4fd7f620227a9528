import type { DeviceGroup, Program } from '@tandem-gpu/core'
import { generatedElements } from '../element-source.ts'
import { compileMatmul } from '../matmul/single/matmul-kernels.ts'
import { measure } from '../measure.ts'
import { type RingPhase, type RingScheme, recordRing, ringSchemes } from './record-ring.ts'
import { ringBound, type StepSeconds } from './ring-bound.ts'
import { type RingMatmulOptions, ringBlocking, ringMatmul } from './ring-matmul.ts'
import { allocateRing, fillRing } from './ring-memory.ts'

/** The schemes for which the source shows curves; its text describes `streamed` and `interleaved`. */
export const measuredInSource: readonly RingScheme[] = ['none', 'native', 'sequence']

/** Measurements of the schemes on one ring. */
export interface RingComparison {
  readonly nodes: number
  readonly schemes: readonly RingFigure[]
  /** The times of one step on one node, with each part alone. */
  readonly step: StepSeconds
}

/** Measurements of one scheme on one ring. */
export interface RingFigure {
  readonly scheme: RingScheme
  /** From the report of `ringMatmul`, as is `rate`. */
  readonly seconds: number
  readonly rate: number
  readonly verified: boolean
  /** The least possible time of the scheme, in seconds; absent if there is no bound. */
  readonly boundSeconds?: number
  /**
   * The fraction of the time that the scheme could hide that it hides: (t_none − t) / (t_none − bound).
   * Absent if there is no bound, if the scheme could hide less than a hundredth of t_none, and on software
   * adapters, where all parts of a step share the CPU.
   */
  readonly hidden?: number
}

/** Options of `compareRing`: those of `ringMatmul` for the shape (m, n and k) and for timing. */
export type CompareRingOptions = Omit<
  RingMatmulOptions<'f32'>,
  'scheme' | 'devices' | 'type' | 'a' | 'b' | 'output'
> & {
  /** Default: 1, 2, 4, 8 and 16, up to the number of devices in the group. */
  readonly nodeCounts?: readonly number[]
  /** Called after every measurement. */
  readonly onFigure?: (nodes: number, figure: RingFigure) => void
}

/**
 * Times every scheme on rings of increasing size, each of the group's first devices, with the same generated
 * matrices.
 */
export async function compareRing(
  group: DeviceGroup,
  options: CompareRingOptions,
): Promise<RingComparison[]> {
  const { nodeCounts = [1, 2, 4, 8, 16], onFigure, ...given } = options
  const comparisons: RingComparison[] = []
  for (const nodes of nodeCounts) {
    if (nodes > group.devices.length) continue
    const step = await stepSeconds(group, nodes, given)
    const schemes: RingFigure[] = []
    for (const scheme of ringSchemes) {
      const { seconds, rate, verified } = await ringMatmul(group, { ...given, scheme, devices: nodes })
      const none = schemes[0]?.seconds ?? seconds
      const bound = ringBound(scheme, nodes, step, given.pieces)
      const hideable = bound === undefined || group.software ? 0 : none - bound
      const figure: RingFigure = {
        scheme,
        seconds,
        rate,
        verified,
        ...(bound !== undefined && { boundSeconds: bound }),
        ...(scheme !== 'none' && hideable > none / 100 && { hidden: (none - seconds) / hideable }),
      }
      schemes.push(figure)
      onFigure?.(nodes, figure)
    }
    comparisons.push({ nodes, schemes, step })
  }
  return comparisons
}

/**
 * Times the parts of a step of scheme `none`, each in a separate program, since not every device has
 * timestamps for copies on the host.
 */
async function stepSeconds(
  group: DeviceGroup,
  nodes: number,
  options: CompareRingOptions,
): Promise<StepSeconds> {
  const shape = { m: options.m, n: options.n, k: options.k }
  const devices = group.devices.slice(0, nodes)
  const kernels = await compileMatmul(group, 'f32', ringBlocking(devices, shape))
  const programs: Program[] = []
  const ring = await allocateRing(group, 'f32', shape, devices)
  try {
    await fillRing(group, ring, generatedElements('f32', 1), generatedElements('f32', 2))
    const time = async (only: RingPhase) => {
      const program = group.record(
        (recorder) => recordRing(recorder, kernels, ring, { scheme: 'none', only }),
        {
          label: `ring ${only}`,
        },
      )
      programs.push(program)
      const { trace: _trace, onRun: _onRun, ...untraced } = options
      return (await measure(group, program, untraced)).seconds / nodes
    }
    // A ring of one node sends no messages; an empty program would still measure its own overhead.
    const message = nodes === 1 ? 0 : await time('message')
    return { message, upload: await time('upload'), product: await time('product') }
  } finally {
    for (const program of programs) program.destroy()
    ring.destroy()
    kernels.destroy()
  }
}
