import { sectionsOf } from '../sections.ts'
import type { Radix } from './factors.ts'
import radicesWgsl from './radices.part.wgsl.ts'
import { root } from './roots.ts'

const parts: Readonly<Partial<Record<Radix, string>>> = sectionsOf<'1' | '2' | '3' | '5' | '7'>(radicesWgsl)

/** The radices that are composed of two others; the rest are written by hand. */
const composed: Readonly<Partial<Record<Radix, readonly [Radix, Radix]>>> = {
  4: [2, 2],
  6: [2, 3],
  8: [4, 2],
  9: [3, 3],
  10: [2, 5],
  12: [4, 3],
  16: [4, 4],
  25: [5, 5],
  27: [9, 3],
  32: [16, 2],
}

/** The small transforms of these radices, as WGSL functions `dft_R`. */
export function radixParts(radices: readonly Radix[]): string[] {
  const texts = new Map<Radix, string>()
  const add = (radix: Radix) => {
    if (texts.has(radix)) return
    const factors = composed[radix]
    for (const used of factors ?? []) add(used)
    texts.set(radix, factors === undefined ? parts[radix]! : composedPart(...factors))
  }
  radices.forEach(add)
  return [...texts.values()]
}

/**
 * The transform of a · b values x: `b` columns, each transformed by dft_a, then `a` rows, each transformed by
 * dft_b, with powers of exp(−2πi / (a · b)) between them. Value k + a · m of the result is value m of row k
 * (Cooley and Tukey, 1965).
 */
function composedPart(a: Radix, b: Radix): string {
  const count = a * b
  const each = (length: number, text: (index: number) => string) =>
    Array.from({ length }, (_, index) => text(index))
  const column = (n: number) => each(a, (m) => `x[${n + m * b}]`).join(', ')
  const row = (k: number) => each(b, (n) => turned(`c${n}[${k}]`, n * k, count)).join(', ')
  const result = each(count, (k) => `r${k % a}[${Math.floor(k / a)}]`).join(', ')
  return [
    `fn dft_${count}(x: array<Complex, ${count}>) -> array<Complex, ${count}> {`,
    ...each(b, (n) => `  let c${n} = dft_${a}(array<Complex, ${a}>(${column(n)}));`),
    ...each(a, (k) => `  let r${k} = dft_${b}(array<Complex, ${b}>(${row(k)}));`),
    `  return array<Complex, ${count}>(${result});`,
    '}\n',
  ].join('\n')
}

/** The value multiplied by exp(−2πi · power / count). */
function turned(value: string, power: number, count: number): string {
  if (power === 0) return value
  if (4 * power === count) return `turn_back(${value})`
  if (8 * power === count) return `turn_eighth(${value})`
  if (8 * power === 3 * count) return `turn_back(turn_eighth(${value}))`
  const [x, y] = root(power, count)
  const literal = (part: number) => `${part.toPrecision(20)}f`
  return `multiply(${value}, Complex(${literal(x)}, ${literal(y)}))`
}
