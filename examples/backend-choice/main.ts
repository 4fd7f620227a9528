import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openHistogram } from './histogram.ts'

const histogram = await openHistogram([cuda(), webgpu()])
const counts = await histogram.count(Uint32Array.of(1, 2, 2, 3, 3, 3))
console.log(`counted by ${histogram.where}: ${counts.slice(0, 5).join(' ')}`)
await histogram.close()
