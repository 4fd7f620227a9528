import type { Radix } from './factors.ts'
import radix1 from './radix-1.part.wgsl.ts'
import radix2 from './radix-2.part.wgsl.ts'
import radix3 from './radix-3.part.wgsl.ts'
import radix4 from './radix-4.part.wgsl.ts'
import radix5 from './radix-5.part.wgsl.ts'
import radix7 from './radix-7.part.wgsl.ts'
import radix8 from './radix-8.part.wgsl.ts'
import radix16 from './radix-16.part.wgsl.ts'

const parts: Readonly<Record<Radix, string>> = {
  1: radix1,
  2: radix2,
  3: radix3,
  4: radix4,
  5: radix5,
  7: radix7,
  8: radix8,
  16: radix16,
}

/** The small transforms of these radices, as functions `dft_R` of WGSL. */
export function radixParts(radices: readonly Radix[]): string[] {
  // Those of 8 and 16 are made of that of 4.
  const needed = new Set<Radix>(radices.some((radix) => radix > 7) ? [4, ...radices] : radices)
  return [...needed].map((radix) => parts[radix])
}
