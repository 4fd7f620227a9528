declare const setImmediate: (turn: () => void) => unknown

/** JavaScript's thread, one that waits for devices, one for messages, and one to spare. */
const coresOfProcess = 4

/**
 * For backends in Node. Keeps the event loop turning until `pending` settles, for so many milliseconds at most: a thread that sleeps is woken 30 to 100 µs late, and
 * runs slowly at first, since its core has slept too. `cores` is how many the process has for itself: with fewer than four it does nothing and returns false, since the
 * loop would take them from others.
 */
export function keepAwake(pending: Promise<unknown>, milliseconds: number, cores: number): boolean {
  if (cores < coresOfProcess) return false
  let settled = false
  const settle = () => {
    settled = true
  }
  pending.then(settle, settle)
  const until = performance.now() + milliseconds
  const turn = () => {
    if (!settled && performance.now() < until) setImmediate(turn)
  }
  turn()
  return true
}
