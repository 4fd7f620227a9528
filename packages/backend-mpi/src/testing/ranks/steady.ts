// Every rank: sends data round the ranks for some seconds, run after run. Prints its process first, and the
// error that ends it.
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { mpi } from '../../mpi.ts'

const [seconds = '3', behaviour = ''] = process.argv.slice(2)
const group = await openGroup({ backends: [mpi(referenceBackend())] })
const { rank, devices, queue } = group
const buffers = await Promise.all(devices.map((device) => device.allocate('u32', 1000)))
const program = group.record((r) => {
  for (const [i, buffer] of buffers.entries()) r.copy(buffer, buffers[(i + 1) % buffers.length]!)
})
console.log(`rank ${rank} is process ${process.pid}`)
try {
  for (let turn = 0; turn < Number(seconds) * 20; turn++) {
    await queue.run(program, 3)
    if (turn === 10 && rank === 1) {
      if (behaviour === 'throw') throw new Error('rank 1 has a defect')
      if (behaviour === 'leave') break
      if (behaviour === 'exit') process.exit(7)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await group.destroy()
  console.log(`rank ${rank} is done`)
} catch (error) {
  if (!isGpuError(error)) throw error
  console.log(`rank ${rank} ends: ${error.code}: ${error.message}`)
  process.exitCode = 3
  // Gives the others time to report it too, before the launcher notices that one has ended.
  await new Promise((resolve) => setTimeout(resolve, 1500))
}
