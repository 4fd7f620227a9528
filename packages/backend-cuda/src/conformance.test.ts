import { describeBackend } from '@tandem-gpu/core/testing'
import { describe } from 'vitest'
import { cuda } from './cuda.ts'

const { adapters, absence } = await cuda().adapters()
const missing = absence === undefined ? '' : ` (skipped: ${absence.reason})`

describe.skipIf(absence !== undefined)(`conformance on ${adapters.length} GPUs${missing}`, () => {
  for (const devices of [1, 2, 4].filter((count) => count <= Math.max(adapters.length, 2))) {
    describeBackend(`cuda × ${devices}`, () => cuda(), { devices })
  }
  describeBackend('cuda with peer access denied', () => cuda({ peerAccess: false }), { devices: 3 })
  describeBackend('cuda as one graph over all GPUs', () => cuda({ lowering: 'one-graph' }), { devices: 2 })
})
