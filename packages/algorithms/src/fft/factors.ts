/** The radices of stages, and the factorization of lengths into them. */
export const radices = [1, 2, 3, 4, 5, 7, 8, 16] as const
export type Radix = (typeof radices)[number] | 6 | 9 | 10 | 12 | 25 | 27 | 32

/**
 * The radices of a length's stages, first to last: few and large ones, with the powers of two as equal as
 * possible, then 7, 5 and 3. Undefined if the length has a prime factor above 7.
 */
export function radicesOf(length: number): readonly Radix[] | undefined {
  const [twos, threes, fives, sevens] = exponentsOf(length)
  if (2 ** twos * 3 ** threes * 5 ** fives * 7 ** sevens !== length) return undefined
  if (length === 1) return [1]
  return [
    ...equalPowers(2, twos, 4),
    ...Array<number>(sevens).fill(7),
    ...Array<number>(fives).fill(5),
    ...Array<number>(threes).fill(3),
  ] as Radix[]
}

/**
 * The radices of a line in one kernel, each at most 32, in the number of stages that measured fastest on an
 * H200. Powers of two use radices up to 32 if the lines are columns of at least 512 values (1.2 to 1.3 times
 * as fast as up to 16), contiguous with at least 2^13 values (1.4 times) or, with `mirrors`, real numbers in
 * 2^9 or 2^10 pairs (1.2 times), otherwise up to 16: 1024 as 16 · 16 · 4 (1.12 times as fast as 16 · 8 · 8). Other primes are combined in pairs and triples: 1000 as 10 · 10
 * · 10 (1.6 times as fast as 8 · 5 · 5 · 5), 1536 as 16 · 16 · 6 (1.13), 6561 as 27 · 27 · 9 (2.3).
 */
export function lineRadicesOf(
  length: number,
  contiguous: boolean,
  mirrors = false,
): readonly Radix[] | undefined {
  const plain = radicesOf(length)
  if (plain === undefined || length === 1) return plain
  const [twos, threes, fives, sevens] = exponentsOf(length)
  const isLarge = twos >= (contiguous ? 13 : 9) || (mirrors && (twos === 9 || twos === 10))
  if (2 ** twos === length) return powersOfTwo(twos, isLarge ? 5 : 4)
  const composed = (tens: number): number[] => {
    const bits = twos - tens
    const triples = equalPowers(3, threes, threes > 6 ? 3 : 2)
    // A single remaining 3 is merged into one stage with the 2 or 4 that remains after the stages of 16.
    const joined = triples.at(-1) === 3 && [1, 2].includes(bits % 4)
    const powers = joined
      ? [...Array<number>(Math.floor(bits / 4)).fill(16), 3 * 2 ** (bits % 4)]
      : bits > 0
        ? powersOfTwo(bits, 4)
        : []
    if (joined) triples.pop()
    return [
      ...Array<number>(tens).fill(10),
      ...powers,
      ...Array<number>(sevens).fill(7),
      ...equalPowers(5, fives - tens, 2),
      ...triples,
    ]
  }
  const [apart, paired] = [composed(0), composed(Math.min(twos, fives))]
  return (paired.length <= apart.length ? paired : apart) as Radix[]
}

/** How often 2, 3, 5 and 7 divide a length. */
function exponentsOf(length: number): readonly [number, number, number, number] {
  const exponent = (prime: number) => {
    let found = 0
    for (let rest = length; rest % prime === 0; rest /= prime) found++
    return found
  }
  return [exponent(2), exponent(3), exponent(5), exponent(7)]
}

/**
 * 2^bits in stages of at most 2^most: two stages as equal as possible; three or more with the smallest last,
 * or second if stages have up to 32 values.
 */
function powersOfTwo(bits: number, most: number): readonly Radix[] {
  const stages = Math.ceil(bits / most)
  const rest = bits - (stages - 1) * most
  if (stages < 3 || rest === 1) return equalPowers(2, bits, most) as Radix[]
  const full = Array<number>(stages - 1).fill(2 ** most)
  const radices = most === 5 ? full.toSpliced(1, 0, 2 ** rest) : [...full, 2 ** rest]
  return radices as Radix[]
}

/** base^exponent in stages of at most base^most, as equal as possible, the largest first. */
function equalPowers(base: number, exponent: number, most: number): number[] {
  const stages = Math.ceil(exponent / most)
  return Array.from({ length: stages }, (_, stage) => base ** Math.ceil((exponent - stage) / stages))
}

/**
 * The length for which a convolution of lines of `length` with a chirp needs the least work: at least 2 ·
 * length − 1, with factors up to 7.
 */
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

/**
 * Two factors of `length`, each at most `most`, as equal as possible, the smaller one first; undefined if
 * there are none.
 */
export function squareSides(length: number, most: number): readonly [number, number] | undefined {
  for (let first = Math.floor(Math.sqrt(length)); first > 1; first--)
    if (length % first === 0) return length / first <= most ? [first, length / first] : undefined
  return undefined
}
