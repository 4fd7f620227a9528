/** Random choices from a seed (mulberry32); the same seed produces the same choices on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** 32 random bits. */
  bits(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  /** A whole number from 0 to `n` - 1. */
  below(n: number): number {
    return this.bits() % n
  }

  /** True with probability 1/`n`. */
  oneIn(n: number): boolean {
    return this.below(n) === 0
  }

  /** One of the choices. */
  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }
}
