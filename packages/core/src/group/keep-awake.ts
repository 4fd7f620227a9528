import { describedValue, isObject } from '../described-value.ts'
import { invalid } from '../errors.ts'

declare const setImmediate: (turn: () => void) => unknown

/** The JavaScript thread, one that waits for devices, one for messages, and one spare. */
const coresOfProcess = 4

/** The number of pending promises, and the time until which the event loop keeps turning for them. */
let waiting = 0
let end = 0
let turning = false

/**
 * For backends in Node. Keeps the event loop turning until `pending` settles, for at most this many
 * milliseconds: a sleeping thread is woken 30 to 100 µs late, and runs slowly at first, because its core has
 * slept too. Each turn calls `yieldCore`, which lets threads that wait for the core go first. `cores` is the
 * number of cores that the process has for itself: with fewer than four, the function does nothing and
 * returns false, because the loop would take them from other threads. Many promises share one callback per
 * turn.
 */
export function keepAwake(
  pending: Promise<unknown>,
  milliseconds: number,
  cores: number,
  yieldCore: () => void,
): boolean {
  if (!isObject(pending) || !('then' in pending) || typeof pending.then !== 'function')
    throw invalid(`The argument of keepAwake is ${describedValue(pending)}; it must be a Promise.`)
  if (typeof milliseconds !== 'number' || typeof cores !== 'number' || typeof yieldCore !== 'function')
    throw invalid(
      `The milliseconds, cores and yieldCore of keepAwake are ${[milliseconds, cores, yieldCore].map(describedValue).join('; ')}; they must be two numbers and a function.`,
    )
  if (cores < coresOfProcess) return false
  const settle = () => {
    waiting--
  }
  waiting++
  pending.then(settle, settle)
  end = Math.max(end, performance.now() + milliseconds)
  if (!turning) {
    const turn = () => {
      yieldCore()
      turning = waiting > 0 && performance.now() < end
      if (turning) setImmediate(turn)
    }
    turning = true
    setImmediate(turn)
  }
  return true
}
