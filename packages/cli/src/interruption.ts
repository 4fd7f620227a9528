import { Worker } from 'node:worker_threads'
import { exitCode } from './exit-code.ts'

/** Milliseconds that the work in flight has to end after a signal. */
const deadline = 1000
/**
 * Milliseconds after which the operating system ends the process; a busy machine may give the event loop its
 * turn late.
 */
const lastDeadline = 1750

/**
 * Runs while the main thread may be held up by a call into a driver: the signal, sent again, then ends the
 * process.
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
 * Returns a signal that Ctrl-C and SIGTERM abort. The work in flight may then end and close its devices.
 * Where it does not within one second, the process exits; where it waits for the operating system, or even
 * the event loop stands still, the signal ends it. Both say why on standard error, unless `speaks` is false.
 * A second signal ends the process at once.
 */
export function interruptionOf(target: NodeJS.Process, speaks = true): AbortSignal {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals)
    target.once(signal, () => {
      controller.abort()
      // The default action is in force again for the second signal, whatever the main thread does.
      for (const other of signals) target.removeAllListeners(other)
      setTimeout(() => {
        if (speaks) target.stderr.write(reasons.busy)
        // Where a file or a name is still waited for, the end of the process would wait too.
        if (target.getActiveResourcesInfo().some((name) => /Req/.test(name)))
          target.once('exit', () => target.kill(target.pid, signal))
        target.exit(exitCode.interrupted)
      }, deadline).unref()
      const reason = speaks ? reasons.stuck : ''
      const data = { pid: target.pid, signal, milliseconds: lastDeadline, reason }
      // Without the options of this process, of which --input-type would make the script a module.
      new Worker(watchdog, { eval: true, workerData: data, execArgv: [] }).unref()
    })
  return controller.signal
}
