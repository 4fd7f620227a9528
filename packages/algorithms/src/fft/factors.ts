/** The radices of stages, and how a length is a product of them. */
export const radices = [1, 2, 3, 4, 5, 7, 8, 16] as const
export type Radix = (typeof radices)[number] | 6 | 9 | 10 | 12 | 15 | 20 | 25 | 27 | 32

/**
 * The radices of a length's stages, first to last: few and large ones, as equal as possible among the powers of two, then 7, 5 and 3. Undefined
 * where a prime factor is above 7.
 */
export function radicesOf(length: number): readonly Radix[] | undefined {
  let rest = length
  const count = (prime: number) => {
    let found = 0
    for (; rest % prime === 0; rest /= prime) found++
    return found
  }
  const [twos, threes, fives, sevens] = [count(2), count(3), count(5), count(7)]
  if (rest !== 1) return undefined
  const stages = Math.ceil(twos / 4)
  const found = [
    ...Array.from({ length: stages }, (_, stage) => 2 ** Math.ceil((twos - stage) / stages)),
    ...Array<number>(sevens).fill(7),
    ...Array<number>(fives).fill(5),
    ...Array<number>(threes).fill(3),
  ] as Radix[]
  return found.length === 0 ? [1] : found
}

/**
 * The radices of a line in one kernel. Powers of two have fewer stages where radices may reach 32, which holds more values in flight at a time: that
 * measured faster on an H200 for columns from 512 values on (1.22 to 1.34 times) and for lines from 2^13 on (1.05 to 1.32 times), and slower for
 * shorter lines. Three stages and more begin with the largest radices (1024 as 16 · 16 · 4: 1.12 times as fast as 16 · 8 · 8), two are as equal as possible.
 */
export function lineRadicesOf(length: number, contiguous: boolean): readonly Radix[] | undefined {
  const bits = Math.log2(length)
  if (!Number.isInteger(bits) || bits === 0) return radicesOf(length)
  const most = bits >= (contiguous ? 13 : 9) ? 5 : 4
  const stages = Math.ceil(bits / most)
  const rest = bits - (stages - 1) * most
  if (stages < 3 || rest === 1)
    return Array.from({ length: stages }, (_, stage) => (2 ** Math.ceil((bits - stage) / stages)) as Radix)
  return [...Array<Radix>(stages - 1).fill((2 ** most) as Radix), (2 ** rest) as Radix]
}

/** The length at which a convolution of lines of `length` with a chirp takes the least work: at least 2 · length − 1, with factors up to 7. */
export function paddedLength(length: number): number {
  const least = 2 * length - 1
  const lengths = [1, 3, 5, 7, 9].map((odd) => {
    let padded = odd
    while (padded < least) padded *= 2
    return padded
  })
  const work = (padded: number) => padded * (1 + radicesOf(padded)!.length)
  return lengths.reduce((best, padded) => (work(padded) < work(best) ? padded : best))
}

/** Two factors of `length`, each at most `most`, as equal as possible, the smaller one first; undefined where there are none. */
export function squareSides(length: number, most: number): readonly [number, number] | undefined {
  for (let first = Math.floor(Math.sqrt(length)); first > 1; first--)
    if (length % first === 0) return length / first <= most ? [first, length / first] : undefined
  return undefined
}
