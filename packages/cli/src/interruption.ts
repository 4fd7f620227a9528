import { Worker } from 'node:worker_threads'
import { exitCode } from './exit-code.ts'

/** Milliseconds that the work in flight has to end after a signal. */
const deadline = 1000
/** Milliseconds after which the operating system ends the process; a busy machine may give the event loop its turn late. */
const lastDeadline = 1750

/** Runs beside the main thread, which a call into a driver may hold up: the signal, sent again, then ends the process. */
const watchdog = `
const { workerData: { pid, signal, milliseconds } } = require('node:worker_threads')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
process.kill(pid, signal)`

/**
 * Returns a signal that Ctrl-C and SIGTERM abort. The work in flight may then end and close its devices. Where it does not within one
 * second, the process exits; where it waits for the operating system, or even the event loop stands still, the signal ends it. A second signal ends
 * it at once.
 */
export function interruptionOf(target: NodeJS.Process): AbortSignal {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals)
    target.once(signal, () => {
      controller.abort()
      // The default action is in force again for the second signal, whatever the main thread does.
      for (const other of signals) target.removeAllListeners(other)
      setTimeout(() => {
        // Where a file or a name is still waited for, the end of the process would wait too.
        if (target.getActiveResourcesInfo().some((name) => /Req/.test(name)))
          target.once('exit', () => target.kill(target.pid, signal))
        target.exit(exitCode.interrupted)
      }, deadline).unref()
      const data = { pid: target.pid, signal, milliseconds: lastDeadline }
      // Without the options of this process, of which --input-type would make the script a module.
      new Worker(watchdog, { eval: true, workerData: data, execArgv: [] }).unref()
    })
  return controller.signal
}
