/**
 * A separate program: worker threads are terminated at random times while they compute, then this thread
 * computes concurrently with another and after its end. Prints the values that it reads. Argument: the
 * libraries as JSON, `{}` for those of a machine with GPUs.
 */
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { type CudaOptions, cuda } from '../cuda.ts'

const options: CudaOptions = {
  libraries: isMainThread ? JSON.parse(process.argv[2]!) : workerData,
  kernelCache: false,
}

async function doubled(group: DeviceGroup, times: number): Promise<number> {
  const [x, y] = await Promise.all(group.devices.map((device) => device.allocate('u32', 1000)))
  const program = group.record((r) => {
    r.fill(x!, 21)
    r.copy(x!, y!)
  })
  await group.queue.run(program, times)
  const [first] = await group.queue.read(y!)
  for (const resource of [program, x!, y!]) resource.destroy()
  return first!
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: options.libraries })
  await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return worker
}

if (isMainThread) {
  for (let i = 0; i < 6; i++) {
    const worker = await startWorker()
    await setTimeout(i * 7)
    await worker.terminate()
  }
  // Another thread has its own modules, and its own instance of the addon.
  const beside = await startWorker()
  const group = await openGroup({ backends: [cuda(options)], devices: 2, virtual: true })
  const read = [await doubled(group, 100)]
  await beside.terminate()
  read.push(await doubled(group, 100))
  const { leaks } = await group.destroy()
  console.log(JSON.stringify({ read, leaks }))
} else {
  const group = await openGroup({ backends: [cuda(options)], devices: 2, virtual: true })
  for (;;) {
    parentPort!.postMessage('computes')
    await doubled(group, 2000)
  }
}
