import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { scan } from './scan.ts'

const group = await openGroup({ backends: [webgpu()], devices: 2, virtual: true })
const output = new Uint32Array(5)
await scan(group, { elements: 5, input: Uint32Array.of(1, 2, 3, 4, 5), output })
console.log(output.join(' '))
const { devices, verification } = await scan(group, { elements: 1_000_000 })
console.log(`a million elements on ${devices} devices: ${verification}`)
await group.destroy()
