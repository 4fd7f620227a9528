import { giveTurn } from '../element-source.ts'

/** Work that pauses every few milliseconds, so that a caller may let the event loop turn. */
export type Paused<T> = Generator<undefined, T, undefined>

const pieceLength = 2 ** 15

/** Calls `work` for consecutive ranges of 0 up to `count`, and pauses after each. */
export function* inPieces(count: number, work: (from: number, to: number) => void): Paused<void> {
  for (let from = 0; from < count; from += pieceLength) {
    work(from, Math.min(count, from + pieceLength))
    yield
  }
}

/** The result of paused work. The event loop turns while it is computed. */
export async function withTurns<T>(paused: Paused<T>): Promise<T> {
  let part = paused.next()
  for (; !part.done; part = paused.next()) await giveTurn()
  return part.value
}

/** The result of paused work, computed in one go. */
export function withoutPauses<T>(paused: Paused<T>): T {
  let part = paused.next()
  while (!part.done) part = paused.next()
  return part.value
}
