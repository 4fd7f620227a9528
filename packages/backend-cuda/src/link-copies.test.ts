import type { Plan } from '@tandem-gpu/core'
import type { PlanCommand } from '@tandem-gpu/core/backend'
import { describe, expect, it } from 'vitest'
import { sendLinkCopies } from './link-copies.ts'

/** A plan of copies `[from, to, bytes]` between buffers, one per device. */
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
const links = { gpuOf: (device: number) => device, reachable: () => true, isSwitched: () => true }

describe('sendLinkCopies', () => {
  const several = copies([
    [1, 0, 5000],
    [2, 1, 5000],
    [1, 0, 5000],
    [3, 0, 5000],
    [1, 0, 5000],
    [1, 2, 5000],
  ])
  it('lets senders drive large copies, and chains those of one sender in recorded order and around repetitions', () => {
    const { commands } = sendLinkCopies(several, links, 1000)
    expect(commands.map((c) => c.device)).toEqual([1, 2, 1, 3, 1, 1])
    expect(commands.map((c) => c.after)).toEqual([[], [], [0], [], [2], [4]])
    expect(commands.map((c) => c.afterPrevious)).toEqual([[5], [], [], [], [], []])
  })
  it('chains only copies of one pair if a GPU has separate links to each other one', () => {
    const { commands } = sendLinkCopies(several, { ...links, isSwitched: () => false }, 1000)
    expect(commands.map((c) => c.device)).toEqual([1, 2, 1, 3, 1, 1])
    expect(commands.map((c) => c.after)).toEqual([[], [], [0], [], [2], []])
    expect(commands.map((c) => c.afterPrevious)).toEqual([[4], [], [], [], [], []])
  })
  it('does not change short copies, or copies inside a GPU or without access', () => {
    const short = copies([
      [1, 0, 1000],
      [2, 0, 1000],
      [0, 0, 5000],
      [0, 0, 5000],
    ])
    expect(sendLinkCopies(short, links, 1000)).toBe(short)
    const large = copies([
      [1, 0, 5000],
      [1, 0, 5000],
    ])
    expect(sendLinkCopies(large, { ...links, gpuOf: () => 0 }, 1000)).toBe(large)
    expect(sendLinkCopies(large, { ...links, reachable: (gpu) => gpu === 0 }, 1000)).toBe(large)
    expect(sendLinkCopies(large, { ...links, reachable: (gpu) => gpu === 1 }, 1000)).toBe(large)
  })
  it('adds no edges to a serial plan, whose commands follow one another', () => {
    const serial = copies(
      [
        [1, 0, 5000],
        [2, 0, 5000],
        [1, 0, 5000],
      ],
      'serial',
    )
    const { commands } = sendLinkCopies(serial, links, 1000)
    expect(commands.map((c) => c.device)).toEqual([1, 2, 1])
    expect(commands.flatMap((c) => [...c.after, ...c.afterPrevious])).toEqual([])
  })
})
