/** A program of its own: opens a device, computes, waits `process.argv[2]` milliseconds, and reports the share of CPU time in the wait. Never exits by itself. */
import { webgpu } from '../index.ts'

const [idleMilliseconds, dispose] = [Number(process.argv[2]), process.argv[3] === 'dispose']
const backend = webgpu()
const { adapters } = await backend.adapters()
const runtime = await backend.open([adapters[0]!])
const allocation = await runtime.allocate(0, 4096, { label: 'x', zero: true })
const bytes = new Uint8Array(4096)
await runtime.read({ allocation, byteOffset: 0, rowByteLength: 4096, rows: 1, rowByteStride: 4096 }, bytes)
// The least of three parts of the wait: a compiler or collector may run in one, what burns CPU burns it in all.
let cpuFraction = Number.POSITIVE_INFINITY
for (let part = 0; part < 3; part++) {
  const before = process.cpuUsage()
  await new Promise((resolve) => setTimeout(resolve, idleMilliseconds / 3))
  const { user, system } = process.cpuUsage(before)
  cpuFraction = Math.min(cpuFraction, (user + system) / 1000 / (idleMilliseconds / 3))
}
if (dispose) await runtime.dispose()
console.log(JSON.stringify({ cpuFraction }))
