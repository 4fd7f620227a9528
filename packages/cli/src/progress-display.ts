import cliProgress from 'cli-progress'
import { type Display, type Progress, TrackedProgress, type Work } from './progress.ts'
import { formatDuration } from './quantity.ts'

/** A bar on standard error if it is a terminal; otherwise one line, after five seconds. */
export function terminalProgress(stream: NodeJS.WriteStream): Progress {
  return new TrackedProgress(stream.isTTY ? bars(stream) : lines((text) => void stream.write(text), [5_000]))
}

/** Lines on standard error at growing intervals, for launchers that pass on what a process prints. */
export function lineProgress(stream: NodeJS.WriteStream): Progress {
  return new TrackedProgress(
    lines((text) => void stream.write(text), [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000]),
  )
}

/**
 * How much is done, how long it has taken, and, if it can be estimated, how long the rest will take: `37 % 12
 * s, about 20 s left`.
 */
export function progressText({ total, done, startedAt }: Work, now: number): string {
  const seconds = (now - startedAt) / 1e3
  const elapsed = formatDuration(seconds)
  if (total === undefined) return elapsed
  const share = total > 0 ? Math.min(1, done / total) : 1
  const percent = `${Math.floor(share * 100)} %`
  // An estimate within the first second would be meaningless.
  if (share === 0 || share === 1 || seconds < 1) return `${percent}  ${elapsed}`
  const rest = (seconds / share) * (1 - share)
  return `${percent}  ${elapsed}, ${rest < 0.5 ? 'less than 1 s' : `about ${formatDuration(rest)}`} left`
}

function bars(stream: NodeJS.WriteStream): Display {
  let bar: cliProgress.SingleBar | undefined
  const hide = () => {
    bar?.stop()
    bar = undefined
  }
  return {
    show(first, current) {
      hide()
      let work = first
      bar = new cliProgress.SingleBar({
        stream,
        format: (options) => {
          // The library draws again after the work has ended.
          work = current() ?? work
          const { label, total, done } = work
          const drawn =
            total === undefined
              ? ''
              : ` [${cliProgress.Format.BarFormat(total > 0 ? Math.min(1, done / total) : 1, options)}]`
          return `${label}${drawn} ${progressText(work, performance.now())}`
        },
        barCompleteChar: '=',
        barIncompleteChar: ' ',
        barsize: 30,
        clearOnComplete: true,
        hideCursor: true,
        gracefulExit: false,
        fps: 10,
      })
      bar.start(1, 0)
    },
    hide,
  }
}

/**
 * `after` has the delays in milliseconds: from the start of the first work to the first line, from that to
 * the second, and so on. If there are several, the last one repeats.
 */
function lines(write: (text: string) => void, after: readonly number[]): Display {
  let work: (() => Work | undefined) | undefined
  let printed = 0
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    const delay = after[printed] ?? (after.length > 1 ? after.at(-1) : undefined)
    if (delay === undefined) return
    timer = setTimeout(() => {
      const current = work?.()
      if (current === undefined) {
        timer = undefined
        return
      }
      const now = performance.now()
      // "0 %  0 s" would say nothing about work that has just begun.
      const isNew = current.done === 0 && now - current.startedAt < 1_000
      write(`tandem: ${current.label}${isNew ? ' …' : `: ${progressText(current, now)}`}\n`)
      printed++
      next()
    }, delay)
    timer.unref()
  }
  return {
    show(_, current) {
      work = current
      if (timer === undefined) next()
    },
    hide() {
      work = undefined
    },
  }
}
