import type { Program, Schedule } from '@tandem-gpu/core'
import type { ElementSource } from './element-source.ts'
import type { MeasureOptions } from './measure.ts'

/** The options of every algorithm. */
export interface AlgorithmOptions extends MeasureOptions {
  /** Default `overlapped`. */
  readonly schedule?: Schedule | undefined
  /** Times the other schedule too, in the same run, for the report's `comparison`. Default false. */
  readonly compareSchedules?: boolean | undefined
  /** Checks the result against a reference. Default true. */
  readonly verify?: boolean | undefined
  /**
   * Called with the program that is timed, before it runs; the program is destroyed afterwards. A sort over
   * messages has two programs; the first has already run.
   */
  readonly onProgram?: ((program: Program) => void) | undefined
}

/** The options of algorithms that generate the input if the caller passes none. */
export interface GeneratedInputOptions {
  /** The same seed produces the same input. Default 1. */
  readonly seed?: number | undefined
}

/** The options of algorithms whose input is a vector. */
export interface VectorOptions<T extends 'f32' | 'i32' | 'u32'>
  extends AlgorithmOptions,
    GeneratedInputOptions {
  readonly elements: number
  readonly type: T
  /** Default: reproducible pseudo-random elements. */
  readonly input?: ElementSource<T> | undefined
}
