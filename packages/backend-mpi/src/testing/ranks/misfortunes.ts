// Every rank: failures that it survives, and failures that it does not. Argument: `threads` (the operating
// system refuses one to rank 1), `memory` (none for a long message), `ended` (calls after the end of MPI),
// `stopped` (rank 1 reads nothing for a while), `handled` (rank 1 handles an exception itself), `none` (prints
// which addon it has loaded).
import { readFileSync } from 'node:fs'
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { detectLaunch } from '../../launcher.ts'
import { mpi } from '../../mpi.ts'
import { settled } from '../../native-addon.ts'
import { mpiSession } from '../../session.ts'

const [what] = process.argv.slice(2)
const shown = (error: unknown) => (isGpuError(error) ? `${error.code}: ${error.message}` : String(error))

if (what === 'threads') {
  const rank = detectLaunch(process.env)?.rank ?? 0
  if (rank !== 1) delete process.env.NO_THREADS_OF
  try {
    const group = await openGroup({ backends: [mpi(referenceBackend())] })
    await group.destroy()
    console.log(`rank ${rank} works`)
  } catch (error) {
    console.log(`rank ${rank} ends: ${shown(error)}`)
    // Gives the others time to report it too, before the launcher notices that one has ended.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    process.exitCode = 3
  }
}
if (what === 'none') {
  await mpiSession()
  const files = readFileSync('/proc/self/maps', 'utf8').match(/\/\S*backend-mpi\.node$/gm)
  console.log([...new Set(files)].join('\n'))
}
if (what === 'memory') {
  const session = await mpiSession()
  process.env.NO_MEMORY = '1'
  for (const length of [70_000_000, 1])
    console.log(shown(await session.gather('x'.repeat(length)).catch((error: unknown) => error)))
}
if (what === 'ended') {
  const session = await mpiSession()
  const group = session.newOpening().beginGroup().numberOf('group')
  await session.addon.openGroup(group)
  // After that of the session, which ends MPI.
  process.once('beforeExit', async () => {
    const { addon } = session
    const calls = [
      () => session.gather('late'),
      () => settled(addon.openGroup(group + 4)),
      () => settled(addon.deliver(group, 0, 0, -1, new Uint8Array(1))),
      () =>
        settled(
          addon.run(
            group,
            0,
            addon.prepare([]),
            1,
            () => {},
            [],
            () => {},
          ),
        ),
    ]
    for (const call of calls) console.log(shown(await call().catch((error: unknown) => error)))
    addon.closeGroup(group, true)
  })
}
if (what === 'handled') {
  const session = await mpiSession()
  const handled = new Promise((resolve) => process.once('uncaughtException', resolve))
  if (session.rank === 1)
    setTimeout(() => {
      throw new Error('an exception')
    })
  if (session.rank === 1) await handled
  await session.gather('goes on')
  console.log(`rank ${session.rank} goes on`)
}
if (what === 'stopped') {
  const session = await mpiSession()
  const { addon, rank, ranks } = session
  const numbers = [0, 1, 2].map(() => session.newOpening().beginGroup().numberOf('group'))
  const told: string[] = []
  for (const [i, number] of numbers.entries())
    session.watchGroup(number, (code, message) => void told.push(`group ${i}: ${code}, ${message.length}`))
  await session.gather('before')
  if (rank === 1) process.kill(process.pid, 'SIGSTOP')
  else {
    await new Promise((resolve) => setTimeout(resolve, 500))
    // More than its socket can buffer, so that the rest waits for it.
    addon.leave(numbers[0], 'device-lost', 'a'.repeat(20_000_000))
    addon.leave(numbers[1], 'validation', 'b'.repeat(1000))
    await new Promise((resolve) => setTimeout(resolve, 3000))
    addon.leave(numbers[2], 'device-lost', 'c'.repeat(1000))
    process.kill(ranks[1]!.process, 'SIGCONT')
  }
  await new Promise((resolve) => setTimeout(resolve, 1000))
  // Waiting for a message makes the thread for messages report what it has received.
  await session.gather('after')
  for (let turn = 0; rank === 1 && told.length < 3 && turn < 100; turn++)
    await Promise.race([
      addon.gather(numbers[2]!, turn, 'never answered').catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, 300)),
    ])
  if (rank === 1) console.log(told.sort().join('\n'))
  process.exit(0)
}
