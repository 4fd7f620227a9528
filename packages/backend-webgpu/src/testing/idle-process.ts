/**
 * A separate program that opens a device, computes, waits, and reports the lowest share of CPU time in any
 * part of the wait. It never exits by itself.
 */
import { webgpu } from '../index.ts'

const dispose = process.argv[2] === 'dispose'
const partMilliseconds = 800
const backend = webgpu()
const { adapters } = await backend.adapters()
const runtime = await backend.open([adapters[0]!])
const allocation = await runtime.allocate(0, 4096, { label: 'x', zero: true })
const bytes = new Uint8Array(4096)
await runtime.read({ allocation, byteOffset: 0, rowByteLength: 4096, rows: 1, rowByteStride: 4096 }, bytes)
// The minimum over up to sixty parts of the wait: a compiler or the garbage collector may run in one part,
// but a busy loop uses CPU time in all of them.
let cpuFraction = Number.POSITIVE_INFINITY
for (let part = 0; part < 60 && cpuFraction > 0.02; part++) {
  const before = process.cpuUsage()
  await new Promise((resolve) => setTimeout(resolve, partMilliseconds))
  const { user, system } = process.cpuUsage(before)
  cpuFraction = Math.min(cpuFraction, (user + system) / 1000 / partMilliseconds)
}
if (dispose) await runtime.dispose()
console.log(JSON.stringify({ cpuFraction }))
