import type { Plan, PlanCommand } from '@tandem-gpu/core'
import { describe, expect, it } from 'vitest'
import { orderLinkCopies } from './link-order.ts'

/** A plan of copies `[from, to, bytes]` between one buffer a device. */
function copies(
  list: readonly (readonly [from: number, to: number, byteLength: number])[],
  schedule: Plan['schedule'] = 'overlapped',
): Plan {
  const region = (buffer: number, byteLength: number) => ({
    buffer,
    byteOffset: 0,
    rowByteLength: byteLength,
    rows: 1,
    rowByteStride: byteLength,
  })
  return {
    label: 'copies',
    schedule,
    buffers: [0, 1, 2, 3].map((device) => ({
      kind: 'device',
      label: `${device}`,
      device,
      byteLength: 1e9,
      allocation: { device, byteLength: 1e9 },
    })),
    kernels: [],
    commands: list.map(
      ([from, to, byteLength], index): PlanCommand => ({
        kind: 'copy',
        index,
        label: '',
        device: to,
        after: [],
        afterPrevious: [],
        source: region(from, byteLength),
        target: region(to, byteLength),
      }),
    ),
    uniformBlock: new Uint8Array(0),
  }
}
const options = { gpuOf: (device: number) => device, byteLengthAbove: 1000 }

describe('orderLinkCopies', () => {
  it('chains large copies into one GPU in recorded order, and around repetitions', () => {
    const { commands } = orderLinkCopies(
      copies([
        [1, 0, 5000],
        [2, 1, 5000],
        [2, 0, 5000],
        [3, 0, 5000],
      ]),
      options,
    )
    expect(commands.map((c) => c.after)).toEqual([[], [], [0], [2]])
    expect(commands.map((c) => c.afterPrevious)).toEqual([[3], [1], [], []])
  })
  it('leaves short copies, copies inside a GPU and serial plans alone', () => {
    const short = copies([
      [1, 0, 1000],
      [2, 0, 1000],
      [0, 0, 5000],
      [0, 0, 5000],
    ])
    expect(orderLinkCopies(short, options)).toBe(short)
    const serial = copies(
      [
        [1, 0, 5000],
        [2, 0, 5000],
      ],
      'serial',
    )
    expect(orderLinkCopies(serial, options)).toBe(serial)
    const virtual = copies([
      [1, 0, 5000],
      [1, 0, 5000],
    ])
    expect(orderLinkCopies(virtual, { ...options, gpuOf: () => 0 })).toBe(virtual)
  })
})
