import { Session } from 'node:inspector'

/**
 * Counts the steps of a computation: how often each block of the package's code runs, plus the elements that
 * array methods and spreads process. Unlike a time, the count does not depend on the machine or its load.
 */
export class StepCounter {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** The numbers of steps of several runs, one after another. */
  count(...runs: readonly (() => void)[]): number[] {
    this.#blocks()
    return runs.map((run) => countElements(run) + this.#blocks())
  }

  /** The blocks run since the last call. */
  #blocks(): number {
    let blocks = 0
    // Calls of `post` in a session of the same thread are answered immediately.
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error
      for (const { url, functions } of result) {
        if (!url.includes('/packages/wgsl/src/') || url.includes('/testing/')) continue
        for (const { ranges } of functions) for (const { count } of ranges) blocks += count
      }
    })
    return blocks
  }

  close(): void {
    this.#session.post('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }
}

/** Methods that take time in proportion to the length of their array, and have no callback. */
const wholeArray = [
  'splice',
  'slice',
  'concat',
  'includes',
  'indexOf',
  'lastIndexOf',
  'join',
  'fill',
  'reverse',
  'shift',
  'unshift',
  'flat',
] as const

function countElements(run: () => void): number {
  let elements = 0
  const prototype = Array.prototype as unknown as Record<string | symbol, (...args: unknown[]) => unknown>
  const replaced = [...wholeArray, Symbol.iterator].map((name) => [name, prototype[name]!] as const)
  for (const [name, method] of replaced) {
    prototype[name] = function (this: unknown[], ...args: unknown[]) {
      elements += this.length
      return Reflect.apply(method, this, args)
    }
  }
  try {
    run()
  } finally {
    for (const [name, method] of replaced) prototype[name] = method
  }
  return elements
}
