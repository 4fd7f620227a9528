import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Progress, silentProgress } from './progress.ts'
import { lineProgress, progressText, terminalProgress } from './progress-display.ts'

describe('the progress that is shown', () => {
  const work = { label: 'Sweeping', total: 20_000, unit: 'sweeps', startedAt: 0 }

  it.each([
    ['no estimate before anything is done', { ...work, done: 0 }, 12_400, '0 %  12 s'],
    ['no estimate in the first second', { ...work, done: 100 }, 900, '0 %  1 s'],
    ['the rest at the pace so far', { ...work, done: 1000 }, 12_400, '5 %  12 s, about 4 min left'],
    ['no rest of 0 s', { ...work, done: 19_999 }, 9000, '99 %  9 s, less than 1 s left'],
    ['no rest at the end', { ...work, done: 20_000 }, 248_000, '100 %  4 min'],
    ['the time alone where the end is not known', { label: 'Checking', done: 0, startedAt: 0 }, 7000, '7 s'],
    ['no share of nothing', { ...work, total: 0, done: 0 }, 2000, '100 %  2 s'],
  ])('%s', (_, shown, now, text) => {
    expect(progressText(shown, now)).toBe(text)
  })
})

describe('the work that an interruption stops', () => {
  it.each<[string, (progress: Progress) => void, string]>([
    ['nothing before the work begins', () => {}, ''],
    [
      'work that is counted',
      (p) => [p.start('Sweeping', 20_000, 'sweeps'), p.reach(500)],
      ' after 500 of 20,000 sweeps',
    ],
    ['work that has done nothing yet', (p) => p.start('Sweeping', 20_000, 'sweeps'), ' while sweeping'],
    ['work without an end', (p) => p.start('Checking the result'), ' while checking the result'],
    [
      'a part of it',
      (p) => [p.start('Sweeping', 9, 'sweeps'), p.step(2), p.begin('Reading a.npy', 50).step(20)],
      ' while reading a.npy',
    ],
    [
      'what goes on behind a part',
      (p) => [p.start('Sweeping', 9, 'sweeps'), p.step(2), p.begin('Reading a.npy', 50).end()],
      ' after 2 of 9 sweeps',
    ],
    ['nothing after it', (p) => [p.start('Sweeping', 9, 'sweeps'), p.step(2), p.stop()], ''],
  ])('%s', (_, act, text) => {
    const progress = silentProgress()
    act(progress)
    expect(progress.whereabouts).toBe(text)
  })
})

describe('lines', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const printed = (progressOf: (stream: NodeJS.WriteStream) => Progress, isTTY: boolean) => {
    const stream = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream
    const progress = progressOf(stream)
    return { progress, text: () => String(stream.read() ?? '') }
  }

  it('to a pipe are one, after five seconds, however long the work is', () => {
    const { progress, text } = printed(terminalProgress, false)
    progress.start('Preparing')
    vi.advanceTimersByTime(3000)
    progress.start('Sweeping', 100, 'sweeps')
    progress.reach(20)
    vi.advanceTimersByTime(1999)
    expect(text()).toBe('')
    vi.advanceTimersByTime(1)
    expect(text()).toBe('tandem: Sweeping: 20 %  2 s, about 8 s left\n')
    vi.advanceTimersByTime(3_600_000)
    expect(text()).toBe('')
  })

  it('to a pipe do not give a time to work that has just begun', () => {
    const { progress, text } = printed(terminalProgress, false)
    progress.start('Running the program')
    vi.advanceTimersByTime(4900)
    progress.start('Checking the result')
    vi.advanceTimersByTime(100)
    expect(text()).toBe('tandem: Checking the result …\n')
  })

  it('to a pipe do not say that nothing is done of work that has just begun', () => {
    const { progress, text } = printed(terminalProgress, false)
    progress.start('Preparing the data')
    vi.advanceTimersByTime(4900)
    progress.start('Sweeping', 100, 'sweeps')
    vi.advanceTimersByTime(100)
    expect(text()).toBe('tandem: Sweeping …\n')
  })

  it('to a pipe are not printed if the work ends before', () => {
    const { progress, text } = printed(terminalProgress, false)
    progress.start('Sweeping')
    vi.advanceTimersByTime(3000)
    progress.stop()
    vi.advanceTimersByTime(60_000)
    expect(text()).toBe('')
  })

  it('are not printed after the end of the command, even if work begins', () => {
    const { progress, text } = printed(lineProgress, true)
    progress.start('Sweeping')
    progress.finish()
    progress.start('Checking the result')
    progress.begin('Writing a.npy', 9)
    vi.advanceTimersByTime(60_000)
    expect(text()).toBe('')
  })

  it('under a launcher come after a second, and then at growing intervals', () => {
    const { progress, text } = printed(lineProgress, true)
    progress.start('Sweeping', 1000, 'sweeps')
    vi.advanceTimersByTime(1000)
    expect(text()).toBe('tandem: Sweeping: 0 %  1 s\n')
    vi.advanceTimersByTime(1999)
    expect(text()).toBe('')
    vi.advanceTimersByTime(1)
    expect(text()).toBe('tandem: Sweeping: 0 %  3 s\n')
    // At 7, 15 and 30 seconds.
    vi.advanceTimersByTime(27_000)
    expect(text().split('\n')).toHaveLength(4)
  })

  it('a terminal gets a bar immediately, which is gone at the end', () => {
    const stream = Object.assign(new PassThrough(), {
      isTTY: true,
      columns: 80,
      cursorTo: vi.fn(),
      clearLine: vi.fn(),
      moveCursor: vi.fn(),
    }) as unknown as NodeJS.WriteStream
    const progress = terminalProgress(stream)
    progress.start('Sweeping', 100, 'sweeps')
    expect(String((stream as unknown as PassThrough).read())).toContain('Sweeping [')
    progress.stop()
    vi.advanceTimersByTime(1000)
    const rest = String((stream as unknown as PassThrough).read() ?? '')
    expect(rest).toContain('\u001b[?25h')
  })
})
