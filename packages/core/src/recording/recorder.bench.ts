import { describe, expect, test } from 'vitest'
import { openGroup } from '../group/group.ts'
import { scale } from '../testing/conformance/kernels.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import type { Recorder } from './recorder.ts'

const group = await openGroup({ backends: [referenceBackend()], devices: 4 })
const matrix = await group.devices[0]!.allocate('f32', [1000, 1000])
const other = await group.devices[1]!.allocate('f32', [1000, 1000])
const second = await group.devices[0]!.allocate('f32', [1000, 1000])
const kernel = await group.compile({ wgsl: scale })
const slices = await Promise.all(group.devices.map((device) => device.allocate('f32', 4096)))

/** The limit, in milliseconds, for the median recording. */
const limit = 100

function recording(name: string, body: (r: Recorder) => void): void {
  test(name, async ({ bench }) => {
    const result = await bench(name, () => group.record(body).destroy()).run({ iterations: 5, time: 300 })
    expect(result.latency.p50).toBeLessThan(limit)
  })
}

describe('recording 10,000 commands', () => {
  recording('tiles of 10 x 10 exchanged between two matrices', (r) => {
    for (let row = 0; row < 100; row++)
      for (let column = 0; column < 100; column++)
        r.copy(matrix.block(row * 10, column * 10, 10, 10), other.block(column * 10, row * 10, 10, 10))
  })

  recording('dispatches over rows of two matrices', (r) => {
    for (let i = 0; i < 10_000; i++) {
      const row = i % 999
      const args = {
        x: matrix.block(row, 0, 2, 1000),
        y: second.block(row + 1, 0, 1, 1000),
        factor: 2,
        addend: i,
      }
      r.dispatch(kernel, { workgroups: [125, 1], args })
    }
  })

  recording('a ring of whole buffers', (r) => {
    for (let i = 0; i < 10_000; i++) r.copy(slices[i % 4]!, slices[(i + 1) % 4]!)
  })

  recording('one-row halos of 100 blocks', (r) => {
    for (let i = 0; i < 10_000; i++) {
      const from = i % 99
      r.copy(matrix.block(from * 10, 0, 1, 1000), matrix.block(from * 10 + 19, 0, 1, 1000))
    }
  })

  recording('column blocks of one matrix', (r) => {
    for (let i = 0; i < 10_000; i++) r.fill(matrix.block(0, (i % 500) * 2, 1000, 2), i)
  })
})
