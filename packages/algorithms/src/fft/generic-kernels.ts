import type { CompileOptions } from '@tandem-gpu/core'
import chirp from './chirp.part.wgsl.ts'
import complex from './complex.part.wgsl.ts'
import convert from './convert.part.wgsl.ts'
import { type Radix, radices } from './factors.ts'
import loadComplex from './load-complex.part.wgsl.ts'
import loadHalf from './load-half.part.wgsl.ts'
import loadReal from './load-real.part.wgsl.ts'
import mirror from './mirror.part.wgsl.ts'
import mirrorLines from './mirror-lines.part.wgsl.ts'
import type { FftLineKind } from './plan-fft.ts'
import { radixParts } from './radix-parts.ts'
import stage from './stage.part.wgsl.ts'
import storeComplex from './store-complex.part.wgsl.ts'
import storeHalf from './store-half.part.wgsl.ts'
import storeReal from './store-real.part.wgsl.ts'

/** The workgroup size of these kernels. */
export const genericInvocations = 64

/** One stage, for lines of any length. */
export function stageSource(radix: Radix): CompileOptions {
  const constants = `const RADIX = ${radix}u;\n`
  const wgsl = [complex, ...radixParts([radix]), constants, stage.replaceAll('DFT(', `dft_${radix}(`)].join(
    '\n',
  )
  return { label: `fft stage of ${radix}`, wgsl }
}

/**
 * Products of lines with a table, for the steps of Bluestein's algorithm before, between and after its
 * transforms.
 */
export function chirpSource(): CompileOptions {
  return { label: 'fft chirp', wgsl: [complex, chirp].join('\n') }
}

const loads = { complex: loadComplex, real: loadReal, half: loadHalf }
const stores = { complex: storeComplex, real: storeReal, half: storeHalf }

/** Converts real numbers or half a spectrum to complex numbers, or back. */
export function convertSource(from: FftLineKind, to: FftLineKind): CompileOptions {
  const anyLength = (text: string) =>
    text
      .replaceAll('LENGTH', 'params.length')
      .replaceAll('INPUT_STEP', 'params.input_step')
      .replaceAll('OUTPUT_STEP', 'params.output_step')
  return {
    label: `fft ${from} to ${to}`,
    wgsl: [complex, anyLength(loads[from]), anyLength(stores[to]), convert].join('\n'),
  }
}

/** The step before or after the transform of paired real numbers: from half a spectrum, or to it. */
export function mirrorSource(): CompileOptions {
  return { label: 'fft mirror', wgsl: [complex, mirror, mirrorLines].join('\n') }
}

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
