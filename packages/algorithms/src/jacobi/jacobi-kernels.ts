import {
  type CompileOptions,
  type DeviceGroup,
  GpuError,
  type Kernel,
  requireOptions,
} from '@tandem-gpu/core'
import { compileTerminating } from '../compile-terminating.ts'
import { characterOf } from '../device-character.ts'
import { requireGroup } from '../option-types.ts'
import type { TileTransport } from '../transpose/record-transpose.ts'
import columns from './columns.wgsl.ts'
import fused from './fused.part.wgsl.ts'
import haloOwn from './halo-own.part.wgsl.ts'
import haloPeer from './halo-peer.part.wgsl.ts'
import residualMax from './residual-max.part.wgsl.ts'
import residualMaxWorkgroup from './residual-max-workgroup.part.wgsl.ts'
import residualNone from './residual-none.part.wgsl.ts'
import sourceArray from './source-array.part.wgsl.ts'
import sourceNone from './source-none.part.wgsl.ts'
import sweep from './sweep.part.wgsl.ts'

/**
 * How halo cells are transferred. `copy`: rows are copied directly; columns are packed, copied and unpacked.
 * `direct`: the sweep reads the neighbours' cells in place, which needs peer access and suits small grids,
 * for which the latency of copies dominates.
 */
export type HaloTransport = Exclude<TileTransport, 'scatter'>

/**
 * The transport in the labels of the kernels. Shipped kernels are found by their labels, so these words must
 * not change.
 */
const transportNames: Record<HaloTransport, string> = { copy: 'copies', direct: 'direct' }

/** The kernels that `compileJacobi` compiles. */
export interface JacobiKernels {
  readonly transport: HaloTransport
  readonly sweep: Kernel
  /** Does the same as `sweep`, and raises the residual to the largest change of a cell. */
  readonly sweepResidual: Kernel
  /**
   * `fusedSweeps` sweeps in one pass over memory, with the same bits as that many single sweeps. Absent if
   * sweeps are not fused.
   */
  readonly fused?: { readonly sweep: Kernel; readonly sweepResidual: Kernel }
  /** These kernels move one column and two columns. Absent for `direct`. */
  readonly columns?: { readonly one: Kernel; readonly both: Kernel }
  destroy(): void
}

/** The number of sweeps in one pass of the fused kernel, and of halo rows that it needs. */
export const fusedSweeps = 4

type ResidualPart = SweepVariant['residual']

const residualParts: Record<ResidualPart, string> = {
  none: residualNone,
  max: residualMax,
  'max-workgroup': residualMaxWorkgroup,
}

function fusedSource(residual: ResidualPart): CompileOptions {
  const label = residual === 'none' ? 'jacobi fused sweeps' : `jacobi fused sweeps ${residual}`
  return { label, wgsl: [fused, residualParts[residual]].join('\n') }
}

interface SweepVariant {
  readonly transport: HaloTransport
  readonly source: boolean
  readonly residual: 'none' | 'max' | 'max-workgroup'
}

function sweepSource({ transport, source, residual }: SweepVariant): CompileOptions {
  const parts = [
    sweep,
    transport === 'direct' ? haloPeer : haloOwn,
    source ? sourceArray : sourceNone,
    residualParts[residual],
  ]
  const label = [
    'jacobi sweep',
    transportNames[transport],
    source ? 'source' : '',
    residual === 'none' ? '' : residual,
  ]
  return { label: label.filter(Boolean).join(' '), wgsl: parts.join('\n') }
}

function columnSource(entryPoint: 'one' | 'both'): CompileOptions {
  return { label: `jacobi columns ${entryPoint}`, wgsl: columns, entryPoint }
}

/** Every kernel that Jacobi can use: for tests and for ahead-of-time compilation. */
export function jacobiSources(): CompileOptions[] {
  const variants = (['copy', 'direct'] as const).flatMap((transport) =>
    [false, true].flatMap((source) =>
      (['none', 'max', 'max-workgroup'] as const).map((residual) =>
        sweepSource({ transport, source, residual }),
      ),
    ),
  )
  const all = (['none', 'max', 'max-workgroup'] as const).map(fusedSource)
  return [...variants, ...all, columnSource('one'), columnSource('both')]
}

/** Compiles for every device of the group. The group caches kernels, so calling again costs nothing. */
export async function compileJacobi(
  group: DeviceGroup,
  options: { transport: HaloTransport; source: boolean; fuse?: boolean },
): Promise<JacobiKernels> {
  requireGroup(group)
  requireOptions(options, 'compileJacobi', {
    transport: ['copy', 'direct'],
    source: 'boolean',
    fuse: 'boolean',
  })
  const { transport, source, fuse = false } = options
  for (const [name, value] of Object.entries({ transport, source }))
    if (value === undefined)
      throw new GpuError('validation', `The option ${name} of compileJacobi is missing.`)
  const residual = characterOf(group).fastBarriers ? 'max-workgroup' : 'max'
  const { kernels, destroy } = await compileTerminating(group, {
    sweep: sweepSource({ transport, source, residual: 'none' }),
    sweepResidual: sweepSource({ transport, source, residual }),
    oneColumn: transport === 'copy' ? columnSource('one') : undefined,
    bothColumns: transport === 'copy' ? columnSource('both') : undefined,
    fused: fuse ? fusedSource('none') : undefined,
    fusedResidual: fuse ? fusedSource(residual) : undefined,
  })
  const { sweep, sweepResidual, oneColumn, bothColumns, fused, fusedResidual } = kernels
  return {
    transport,
    sweep,
    sweepResidual,
    ...(oneColumn && bothColumns && { columns: { one: oneColumn, both: bothColumns } }),
    ...(fused && fusedResidual && { fused: { sweep: fused, sweepResidual: fusedResidual } }),
    destroy,
  }
}
