import { type DeviceGroup, type GpuErrorCode, isGpuError, type Program } from '@tandem-gpu/core'
import { median } from '../measure.ts'
import type { TuningStore } from './tuning-store.ts'

/** One way to compute something; all candidates produce the same bits. */
export interface Candidate<C> {
  /** Unique among the candidates. It is saved in the store. */
  readonly name: string
  readonly choice: C
}

/**
 * A later candidate replaces an earlier one only if it is faster by this factor, so that noise does not
 * decide between equals.
 */
const advantage = 0.98

/** Backends may try several ways of launching a program in its first runs. */
const warmUpRuns = 10
const warmUpSeconds = 0.5

/** A candidate that fails with one of these codes is skipped. Every other error is rethrown. */
const unfit: ReadonlySet<GpuErrorCode> = new Set(['out-of-memory', 'too-large', 'unsupported', 'compilation'])

/**
 * Returns the candidate that the store names for `key`; otherwise the fastest by `time`, which it stores.
 * Returns `undefined` if nothing was measured, now or before: there is no store, only one candidate, or none
 * that can run. The first candidate, which is the shipped choice, is then the one to use.
 *
 * @param time Returns the seconds that a candidate takes. It may return early with any number above `limit`
 * once that is exceeded.
 */
export async function tune<C>(
  store: TuningStore | false | undefined,
  key: string,
  candidates: readonly [Candidate<C>, ...Candidate<C>[]],
  time: (choice: C, limit: number) => Promise<number>,
): Promise<Candidate<C> | undefined> {
  if (!store || candidates.length === 1) return undefined
  const known = store.get(key)
  const kept = candidates.find(({ name }) => name === known)
  if (kept) return kept
  let best: Candidate<C> | undefined
  let limit = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    try {
      const seconds = await time(candidate.choice, limit)
      if (seconds >= limit) continue
      best = candidate
      limit = seconds * advantage
    } catch (error) {
      if (!(isGpuError(error) && unfit.has(error.code))) throw error
    }
  }
  if (best !== undefined) store.set(key, best.name)
  return best
}

/**
 * The seconds of one run of `program`: the median of seven samples after a warm-up, each with enough runs to
 * take two milliseconds. Takes three samples if one run takes longer than a tenth of a second, and one if it
 * takes longer than half a second: long runs vary less, and seven of each candidate would take a minute.
 * Stops after one sample that exceeds 1.5 times `limit`.
 */
export async function timeProgram(
  group: DeviceGroup,
  program: Program,
  limit = Number.POSITIVE_INFINITY,
  signal?: AbortSignal,
): Promise<number> {
  const options = signal ? { signal } : {}
  const seconds = async (repetitions: number) =>
    (await group.queue.run(program, repetitions, options)).seconds / repetitions
  await program.prepare()
  let last = await seconds(1)
  for (let spent = last, run = 1; run < warmUpRuns && spent < warmUpSeconds; run++) {
    last = await seconds(1)
    spent += last
  }
  const repetitions = Math.max(1, Math.min(200, Math.ceil(2e-3 / Math.max(1e-6, last))))
  const samples = [await seconds(repetitions)]
  if (samples[0]! > 1.5 * limit) return samples[0]!
  const count = samples[0]! > 0.5 ? 1 : samples[0]! > 0.1 ? 3 : 7
  while (samples.length < count) samples.push(await seconds(repetitions))
  return median(samples)
}
