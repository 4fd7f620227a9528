import cliProgress from 'cli-progress'

/** Where a long piece of work says how far it is. */
export interface Progress {
  /** Starts a bar; one bar runs at a time. `total` counts in whatever `step` adds. */
  start(label: string, total: number): void
  /** Adds to the bar. */
  step(amount: number): void
  /** Ends the bar and takes its line away. Safe to call when none runs. */
  stop(): void
}

/** Bars on `stream` if it is a terminal, else nothing at all. */
export function terminalProgress(stream: NodeJS.WriteStream): Progress {
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
