import type { CompileOptions } from '@tandem-gpu/core'
import { sectionsOf } from '../sections.ts'
import complex from './complex.part.wgsl.ts'
import { type Radix, radices } from './factors.ts'
import genericWgsl from './generic.part.wgsl.ts'
import { loads, stores } from './line-kernel.ts'
import mirror from './mirror.part.wgsl.ts'
import type { FftLineKind } from './plan-fft.ts'
import { radixParts } from './radix-parts.ts'

const parts = sectionsOf<'stage' | 'chirp' | 'mirror' | 'convert' | 'lines'>(genericWgsl)

/** The workgroup size of these kernels. */
export const genericInvocations = 64

/** A kernel for lines of any length, whose texts define `compute`. */
function source(
  label: string,
  texts: readonly string[],
  from: FftLineKind = 'complex',
  to: FftLineKind = 'complex',
): CompileOptions {
  const access = [loads[from], stores[to]]
    .join('\n')
    .replaceAll('LENGTH', 'params.items')
    .replaceAll('INPUT_STEP', 'params.input_step')
    .replaceAll('OUTPUT_STEP', 'params.output_step')
  return { label: `fft ${label}`, wgsl: [complex, access, ...texts, parts.lines].join('\n') }
}

/** One stage. */
export function stageSource(radix: Radix): CompileOptions {
  const text = `const RADIX = ${radix}u;\n${parts.stage.replaceAll('DFT(', `dft_${radix}(`)}`
  return source(`stage of ${radix}`, [...radixParts([radix]), text])
}

/**
 * Products of lines with a table, for the steps of Bluestein's algorithm before, between and after its
 * transforms.
 */
export const chirpSource = () => source('chirp', [parts.chirp])

/** Converts real numbers or half a spectrum to complex numbers, or back. */
export const convertSource = (from: FftLineKind, to: FftLineKind) =>
  source(`${from} to ${to}`, [parts.convert], from, to)

/** The step before or after the transform of paired real numbers: from half a spectrum, or to it. */
export const mirrorSource = () => source('mirror', [mirror, parts.mirror])

/** The kernels for lines of any length. Compiled ahead of time, they run everywhere. */
export function genericSources(): CompileOptions[] {
  return [
    ...radices.map(stageSource),
    chirpSource(),
    mirrorSource(),
    convertSource('real', 'complex'),
    convertSource('half', 'complex'),
    convertSource('complex', 'half'),
    convertSource('complex', 'real'),
  ]
}
