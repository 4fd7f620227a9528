import type { LinkedProcesses } from '../../backend/links.ts'

/** The processes of a link, all of them in this process. */
export interface SimulatedProcesses {
  readonly processes: readonly LinkedProcesses[]
  /** Tells all of them that one cannot go on. */
  readonly break: () => void
}

/**
 * So many processes that make the same calls in the same order: what one says in a call, all hear when the
 * last has made it.
 */
export function simulateProcesses(count: number): SimulatedProcesses {
  let breakOff!: () => void
  const broken = new Promise<void>((resolve) => {
    breakOff = resolve
  })
  const calls: { readonly texts: Map<number, string>; readonly waiting: (() => void)[] }[] = []
  const processes = Array.from({ length: count }, (_, rank): LinkedProcesses => {
    let turn = 0
    return {
      rank,
      broken,
      async exchange(message) {
        const at = turn++
        calls[at] ??= { texts: new Map(), waiting: [] }
        const { texts, waiting } = calls[at]
        texts.set(rank, message)
        if (texts.size < count) await new Promise<void>((resolve) => waiting.push(resolve))
        else for (const go of waiting) go()
        return Array.from({ length: count }, (_, other) => texts.get(other)!)
      },
    }
  })
  return { processes, break: breakOff }
}
