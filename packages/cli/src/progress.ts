import cliProgress from 'cli-progress'

/** Shows the progress of long work. */
export interface Progress {
  /** Starts a bar, and ends the one before. `total` has the unit of `step`. */
  start(label: string, total: number): void
  /** Advances the bar. */
  step(amount: number): void
  /** Ends the bar and removes its line. It may be called when there is no bar. */
  stop(): void
}

/** Bars on standard error if it is a terminal; otherwise nothing is shown. */
export function terminalProgress(): Progress {
  const stream = process.stderr
  if (!stream.isTTY) return silentProgress
  let bar: cliProgress.SingleBar | undefined
  const stop = () => {
    bar?.stop()
    bar = undefined
  }
  return {
    start(label, total) {
      stop()
      bar = new cliProgress.SingleBar({
        stream,
        format: `${label} [{bar}] {percentage}%  {eta_formatted} left`,
        barCompleteChar: '=',
        barIncompleteChar: ' ',
        barsize: 30,
        clearOnComplete: true,
        hideCursor: true,
        fps: 10,
      })
      bar.start(total, 0)
    },
    step(amount) {
      bar?.increment(amount)
    },
    stop,
  }
}

export const silentProgress: Progress = { start() {}, step() {}, stop() {} }
