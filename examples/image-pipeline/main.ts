import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { findEdges } from './pipeline.ts'

// A white disc on black, in place of an image from a file.
const [width, height] = [48, 40]
const pixels = new Uint8Array(4 * width * height)
for (let i = 0; i < width * height; i++) {
  const inside = Math.hypot((i % width) - 23.5, Math.floor(i / width) - 19.5) < 14
  pixels.set(inside ? [255, 255, 255, 255] : [0, 0, 0, 255], 4 * i)
}
const group = await openGroup({ backends: [webgpu()], devices: 3, virtual: true })
const edges = await findEdges(group, { width, height, pixels }, 1)
await group.destroy()

// Every second row, since letters are higher than wide.
for (let row = 0; row < height; row += 2) {
  const lights = Array.from({ length: width }, (_, column) => edges.pixels[4 * (row * width + column)]!)
  console.log(
    lights
      .map((light) => ' .:*#'[Math.floor(light / 52)])
      .join('')
      .trimEnd(),
  )
}
