/**
 * A separate program: worker threads compute, destroy their groups and are terminated, then the main thread
 * computes. Prints the results.
 */
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, SHARE_ENV, Worker } from 'node:worker_threads'
import { openGroup } from '@tandem-gpu/core'
import { webgpu } from '../index.ts'

async function filled(times: number): Promise<number> {
  const group = await openGroup({ backends: [webgpu()], devices: 2, virtual: true })
  const [x, y] = await Promise.all(group.devices.map((device) => device.allocate('u32', 1000)))
  const program = group.record((r) => {
    r.fill(x!, 21)
    r.copy(x!, y!)
  })
  await group.queue.run(program, times)
  const [first] = await group.queue.read(y!)
  await group.destroy()
  return first!
}

if (isMainThread) {
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(fileURLToPath(import.meta.url), { env: SHARE_ENV })
    await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    await worker.terminate()
  }
  console.log(await filled(10))
} else {
  parentPort!.postMessage(await filled(100))
  // Keeps the worker alive until it is terminated.
  setInterval(() => {}, 1000)
}
