/** The radices of stages, and how a length is a product of them. */
export const radices = [1, 2, 3, 4, 5, 7, 8, 16] as const
export type Radix = (typeof radices)[number]

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
