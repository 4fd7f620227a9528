import type { NativeAddon } from './native-addon.ts'

/**
 * Ends MPI together with the process. A process that has nothing left to do, or exits with code 0, waits for
 * the other ranks in MPI_Finalize; a process that exits with another code, or with an exception that nothing
 * handles, ends all ranks (MPI_Abort). After a rank is lost, MPI is no longer called, because it would wait
 * for that rank forever.
 */
export function endWithJob(addon: NativeAddon, rank: number, failed: () => boolean): void {
  let ended = false
  const finalize = () => {
    if (ended || failed()) return
    ended = true
    addon.leave(undefined, 'device-lost', '')
    addon.end()
    addon.finalize()
  }
  process.on('beforeExit', finalize)
  process.on('exit', (exitCode) => {
    if (exitCode === 0) return finalize()
    if (ended || failed()) return
    ended = true
    addon.end()
    addon.abort(exitCode)
  })
  process.on('uncaughtExceptionMonitor', (error) => {
    if (ended || failed()) return
    // The program handles the exception, and may go on.
    if (process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback())
      return
    ended = true
    // Node would print it only after this handler, and MPI_Abort does not return.
    console.error(`Rank ${rank} ended with an uncaught exception:`, error)
    addon.end()
    addon.abort(1)
  })
}
