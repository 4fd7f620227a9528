import { Worker } from 'node:worker_threads'
import { exitCode } from './exit-code.ts'

/** The time, in milliseconds, in which the work in flight must end after a signal. */
const deadline = 1000
/**
 * The time, in milliseconds, after which the operating system ends the process. It is longer, because on a
 * busy machine the event loop may run late.
 */
const lastDeadline = 1750

/**
 * Runs in a thread of its own, because a call into a driver may block the main thread. Sending the signal
 * again then ends the process.
 */
const watchdog = `
const { workerData: { pid, signal, milliseconds, reason } } = require('node:worker_threads')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
try { require('node:fs').writeSync(2, reason) } catch {}
process.kill(pid, signal)`

/** Why an interrupted process did not end within the deadline. */
const reasons = {
  busy: 'tandem: The work in flight did not finish within a second, so the process ends without waiting for it.\n',
  stuck:
    'tandem: A call into the driver or the operating system does not return, so the process is being killed.\n',
}

/**
 * Returns an abort signal for Ctrl-C and SIGTERM, after which the work in flight may end and close its
 * devices. If it takes more than one second, the process exits; if it waits for the operating system, or if
 * the event loop is blocked, the signal ends the process. In both cases, the reason is printed on standard
 * error, unless `speaks` is false. A second signal ends the process at once.
 */
export function interruptionOf(target: NodeJS.Process, speaks = true): AbortSignal {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals)
    target.once(signal, () => {
      controller.abort()
      // The second signal has its default action again, whatever the main thread does.
      for (const other of signals) target.removeAllListeners(other)
      setTimeout(() => {
        if (speaks) target.stderr.write(reasons.busy)
        // `process.exit` would wait for pending file operations and name look-ups.
        if (target.getActiveResourcesInfo().some((name) => /Req/.test(name)))
          target.once('exit', () => target.kill(target.pid, signal))
        target.exit(exitCode.interrupted)
      }, deadline).unref()
      const reason = speaks ? reasons.stuck : ''
      const data = { pid: target.pid, signal, milliseconds: lastDeadline, reason }
      // The options of this process are not passed on: --input-type would make the script a module.
      new Worker(watchdog, { eval: true, workerData: data, execArgv: [] }).unref()
    })
  return controller.signal
}
