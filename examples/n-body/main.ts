import { webgpu } from '@tandem-gpu/backend-webgpu'
import { isGpuError, openGroup } from '@tandem-gpu/core'
import { simulate } from './n-body.ts'

// Bodies in a cube, all of one mass.
const count = 200
const random = (i: number) => (Math.sin(i) * 10_000) % 1
const bodies = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 3 ? 1 / count : random(i)))

const ending = new AbortController()
process.once('SIGINT', () => ending.abort())

const group = await openGroup({ backends: [webgpu()] })
try {
  const moved = await simulate(group, {
    ...{ bodies, steps: 100, step: 1e-3, signal: ending.signal },
    onProgress: ({ done, times }) => process.stderr.write(`\r${done} of ${times} steps`),
  })
  console.log(`\n${moved.length / 4} bodies have moved; Ctrl-C ends it earlier.`)
} catch (error) {
  if (!isGpuError(error, 'aborted')) throw error
  console.log(`\n${error.message}`)
}
await group.destroy()
