/** Draws from a sequence that a seed fixes (mulberry32, Tommy Ettinger, 2017). */
export class RandomSource {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  bits(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  below(n: number): number {
    return this.bits() % n
  }

  /** True once in `n` draws. */
  oneIn(n: number): boolean {
    return this.below(n) === 0
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }
}
