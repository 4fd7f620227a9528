import { GpuError, type GpuErrorCode, isGpuError } from '../errors.ts'
import type { RankMessage } from './ranks.ts'

/** An error as ranks tell each other. */
export interface Failure {
  readonly code: GpuErrorCode
  readonly message: string
}

export function failureOf(error: unknown): Failure {
  if (isGpuError(error)) return { code: error.code, message: error.message }
  return { code: 'driver', message: error instanceof Error ? error.message : String(error) }
}

/**
 * What this rank throws where another has failed, or it has itself: then its own error. `sentence` says whose
 * failure it is.
 */
export function errorOf(
  rank: number,
  { code, message }: Failure,
  own: unknown,
  sentence = (rank: number, message: string) => `Rank ${rank}: ${message}`,
): unknown {
  if (own !== undefined) {
    const mine = failureOf(own)
    if (mine.code === code && mine.message === message) return own
  }
  return new GpuError(code, sentence(rank, message))
}

/** Options of `allOrNone`. */
export interface AllOrNoneOptions {
  /**
   * Gives what all ranks say; of equal messages one is enough, with the lowest rank that says it. All ranks
   * call it in the same order.
   */
  readonly say: (message: string) => Promise<readonly Pick<RankMessage, 'rank' | 'message'>[]>
  /** Of a failure on a rank, for the others. */
  readonly sentence?: ((rank: number, message: string) => string) | undefined
  /** Makes work end that itself waits for the other ranks: called where it has failed on one of them. */
  readonly giveUp?: (() => void) | undefined
}

type Said<T> = { readonly failure: Failure } | { readonly result: T }

/** Between two looks at how far the others are. */
const lookMilliseconds = 50

/**
 * What `work` gives on all ranks, as JSON: of ranks that give the same, one is enough. Where it fails on one,
 * rejects on every rank, with the failure of the lowest rank that has one.
 */
export async function allOrNone<T>(
  work: () => Promise<T>,
  { say, sentence, giveUp }: AllOrNoneOptions,
): Promise<readonly { readonly rank: number; readonly result: T }[]> {
  let error: unknown
  const own = work().then(
    (result): Said<T> => ({ result }),
    (caught: unknown): Said<T> => {
      error = caught
      return { failure: failureOf(caught) }
    },
  )
  for (;;) {
    const now = await (giveUp === undefined ? own : Promise.race([own, later()]))
    const said = (await say(JSON.stringify(now))).map(({ rank, message }) => ({
      rank,
      outcome: JSON.parse(message) as Said<T> | null,
    }))
    for (const { rank, outcome } of said)
      if (outcome !== null && 'failure' in outcome) {
        giveUp?.()
        await own
        throw errorOf(rank, outcome.failure, error, sentence)
      }
    const results = said.flatMap(({ rank, outcome }) =>
      outcome === null || 'failure' in outcome ? [] : [{ rank, result: outcome.result }],
    )
    if (results.length === said.length) return results
  }
}

function later(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), lookMilliseconds))
}
