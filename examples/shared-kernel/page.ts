import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { draw } from './mandelbrot.ts'

const canvas = document.querySelector('canvas')!
const { width: columns, height: rows } = canvas
const group = await openGroup({ backends: [webgpu()] })
const counts = await draw(group, { rows, columns, center: [-0.6, 0], width: 3 })
const image = new ImageData(columns, rows)
for (const [i, count] of counts.entries()) image.data.set([count, count / 2, 255 - count, 255], 4 * i)
canvas.getContext('2d')!.putImageData(image, 0, 0)
document.title = `drawn ${counts.reduce((sum, count) => sum + count, 0)}`
await group.destroy()
