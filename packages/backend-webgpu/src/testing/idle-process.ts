/** A program of its own: opens a device, computes, waits `process.argv[2]` milliseconds, and reports the CPU time of the wait. Never exits by itself. */
import { webgpu } from '../index.ts'

const [idleMilliseconds, dispose] = [Number(process.argv[2]), process.argv[3] === 'dispose']
const backend = webgpu()
const { adapters } = await backend.adapters()
const runtime = await backend.open([adapters[0]!])
const allocation = await runtime.allocate(0, 4096, { label: 'x', zero: true })
const bytes = new Uint8Array(4096)
await runtime.read({ allocation, byteOffset: 0, rowByteLength: 4096, rows: 1, rowByteStride: 4096 }, bytes)
const before = process.cpuUsage()
await new Promise((resolve) => setTimeout(resolve, idleMilliseconds))
const { user, system } = process.cpuUsage(before)
if (dispose) await runtime.dispose()
console.log(JSON.stringify({ cpuFraction: (user + system) / 1000 / idleMilliseconds, left: Date.now() }))
