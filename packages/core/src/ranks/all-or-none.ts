import { GpuError, type GpuErrorCode, isGpuError } from '../errors.ts'
import type { RankMessage } from './ranks.ts'

/** An error in the form that ranks exchange. */
export interface Failure {
  readonly code: GpuErrorCode
  readonly message: string
}

export function failureOf(error: unknown): Failure {
  if (isGpuError(error)) return { code: error.code, message: error.message }
  return { code: 'driver', message: error instanceof Error ? error.message : String(error) }
}

/**
 * The error that this rank throws after a failure on any rank: its own error if the failure is its own.
 * Otherwise `sentence` builds the message, with the rank that failed.
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
   * Resolves to the messages of all ranks; equal messages may appear once, with the lowest rank that sent
   * them. All ranks call it in the same order.
   */
  readonly say: (message: string) => Promise<readonly Pick<RankMessage, 'rank' | 'message'>[]>
  /** Builds the message that other ranks see after a failure on `rank`. */
  readonly sentence?: ((rank: number, message: string) => string) | undefined
  /** Ends `work` if it waits for other ranks itself: called when it has failed on one of them. */
  readonly giveUp?: (() => void) | undefined
}

type Said<T> = { readonly failure: Failure } | { readonly result: T }

/** The interval at which ranks that are still working exchange their state. */
const lookMilliseconds = 50

/**
 * Resolves to the results of `work` on all ranks, which travel as JSON; equal results may appear once. If it
 * fails on any rank, rejects on every rank with the failure of the lowest rank that failed.
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
