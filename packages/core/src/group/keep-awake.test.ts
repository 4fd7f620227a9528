import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { keepAwake as KeepAwake } from './keep-awake.ts'

describe('keepAwake', () => {
  let keepAwake: typeof KeepAwake
  let turns: (() => void)[]
  let now: number
  let yields: number

  beforeEach(async () => {
    turns = []
    now = 1000
    yields = 0
    vi.stubGlobal('setImmediate', (turn: () => void) => turns.push(turn))
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    vi.resetModules()
    ;({ keepAwake } = await import('./keep-awake.ts'))
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  const yieldCore = () => {
    yields++
  }
  /** Turns the event loop; how many callbacks it has then. */
  const turned = () => {
    for (const turn of turns.splice(0)) turn()
    return turns.length
  }
  const never = () => new Promise<void>(() => {})

  it.each(['resolves', 'rejects'])('turns the event loop until the promise %s', async (ending) => {
    let resolve!: () => void
    let reject!: (error: Error) => void
    const promise = new Promise<void>((...ways) => {
      ;[resolve, reject] = ways
    })
    expect(keepAwake(promise, 50, 4, yieldCore)).toBe(true)
    for (let turn = 0; turn < 100; turn++) expect(turned()).toBe(1)
    expect(yields).toBe(100)
    if (ending === 'resolves') resolve()
    else reject(new Error('lost'))
    await promise.catch(() => {})
    expect(turned()).toBe(0)
    expect(keepAwake(never(), 50, 4, yieldCore)).toBe(true)
    expect(turned()).toBe(1)
  })

  it('lets the event loop sleep once the time is over', () => {
    expect(keepAwake(never(), 50, 4, yieldCore)).toBe(true)
    now += 49
    expect(turned()).toBe(1)
    now += 1
    expect(turned()).toBe(0)
    now += 1000
    keepAwake(never(), 50, 4, yieldCore)
    expect(turned()).toBe(1)
  })

  it('has one callback per turn for many promises', () => {
    for (let call = 0; call < 1000; call++) keepAwake(never(), 50, 4, yieldCore)
    expect(turned()).toBe(1)
  })

  it('does nothing if the process has few cores', () => {
    expect(keepAwake(never(), 50, 3.9, yieldCore)).toBe(false)
    expect(turns).toEqual([])
  })
})
