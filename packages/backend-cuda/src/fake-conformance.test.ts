import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeBackend } from '@tandem-gpu/core/testing'
import { afterAll } from 'vitest'
import { cudaBackend } from './cuda.ts'
import { translateForCpu } from './testing/cpu-translation.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

// The whole backend except the GPU: translated kernels run on the CPU, and graphs in a random topological
// order on three devices.
const directory = join(tmpdir(), `tandem-conformance-${randomUUID()}`)
const options = { libraries: fakeLibraries(), kernelCache: { directory } }
afterAll(() => rmSync(directory, { recursive: true, force: true }))
configureFake({ FAKE_CUDA_DEVICES: 3 })

describeBackend('cuda on the fake driver × 3', () => cudaBackend(options, translateForCpu), { devices: 3 })
describeBackend(
  'cuda on the fake driver with peer access denied',
  () => cudaBackend({ ...options, peerAccess: false }, translateForCpu),
  { devices: 3 },
)
describeBackend(
  'cuda on the fake driver as one graph, virtual devices',
  () => cudaBackend({ ...options, lowering: 'one-graph' }, translateForCpu),
  { devices: 4 },
)
