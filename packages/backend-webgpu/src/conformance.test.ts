import { describeBackend } from '@tandem-gpu/core/testing'
import { webgpu } from './index.ts'

describeBackend('webgpu', () => webgpu(), { devices: 3 })
describeBackend('webgpu with peer access denied', () => webgpu({ peerAccess: false }), { devices: 3 })
