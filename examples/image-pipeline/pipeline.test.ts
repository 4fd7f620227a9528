import { webgpu } from '@tandem-gpu/backend-webgpu'
import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { findEdges, type Image } from './pipeline.ts'

/** A white square on black. */
function square(width: number, height: number): Image {
  const pixels = Uint8Array.from({ length: 4 * width * height }, (_, i) => (i % 4 === 3 ? 255 : 0))
  for (let row = 8; row < height - 8; row++)
    pixels.fill(255, 4 * (row * width + 8), 4 * (row * width + width - 8))
  return { width, height, pixels }
}

it('finds the outline of a square, with the same bits on one device and on five', async () => {
  const image = square(48, 40)
  const results: Image[] = []
  for (const devices of [1, 5]) {
    const group = await openGroup({ backends: [webgpu()], devices, virtual: true })
    results.push(await findEdges(group, image))
    expect(await group.destroy()).toEqual({ leaks: [] })
  }
  const [one, five] = results
  expect(five!.pixels).toEqual(one!.pixels)
  const light = (row: number, column: number) => one!.pixels[4 * (row * 48 + column)]!
  expect(light(20, 24)).toBe(0)
  expect(light(2, 2)).toBe(0)
  expect(light(8, 24)).toBeGreaterThan(128)
  expect(light(20, 39)).toBeGreaterThan(128)
})

it('gives the same in any order of commands, and with more devices than rows', async () => {
  const image = {
    width: 5,
    height: 3,
    pixels: Uint8Array.from({ length: 60 }, (_, i) => (i % 4 === 3 ? 255 : (37 * i) % 256)),
  }
  const results: Uint8Array[] = []
  for (const [devices, seed] of [
    [1, 1],
    [2, 2],
    [4, 3],
  ] as const) {
    const group = await openGroup({ backends: [referenceBackend({ seed })], devices })
    results.push((await findEdges(group, image, 3)).pixels)
    expect(await group.destroy()).toEqual({ leaks: [] })
  }
  expect(results[1]).toEqual(results[0])
  expect(results[2]).toEqual(results[0])
})
