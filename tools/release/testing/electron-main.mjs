// `npm run test:electron`, in Electron: CUDA on the fake driver, with page-locked memory. Electron allows no
// external ArrayBuffers, so uploads and downloads use ordinary ones. Never runs if Electron cannot be
// downloaded.
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup } from '@tandem-gpu/core'
import { fakeLibraries } from '../../../packages/backend-cuda/dist/testing/fake-driver.js'

if (process.versions.electron === undefined)
  throw new Error('This is not Electron: run npm run test:electron.')
const group = await openGroup({ backends: [cuda({ libraries: fakeLibraries(), kernelCache: false })] })
const device = await group.devices[0].allocate('f32', 1024)
const [source, target] = [group.allocateHost('f32', 1024), group.allocateHost('f32', 1024)]
source.array.fill(3)
const program = group.record((r) => {
  r.upload(source, device)
  r.download(device, target)
})
await group.queue.run(program)
const right = target.array.every((value) => value === 3)
await group.destroy()
console.log(`Electron ${process.versions.electron}: ${right ? 'right' : 'WRONG'}`)
process.exit(right ? 0 : 1)
