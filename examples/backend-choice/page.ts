import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openHistogram } from './histogram.ts'

// In a browser there is no CUDA; everything else of the program is the same.
const histogram = await openHistogram([webgpu()])
const values = Uint32Array.from({ length: 10_000 }, (_, i) => (i * i) % 256)
const counts = await histogram.count(values)
document.title = 'counted'
document.querySelector('#where')!.textContent = histogram.where
document.querySelector('#counts')!.textContent = counts.join(' ')
await histogram.close()
