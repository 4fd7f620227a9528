import type { Plan } from '@tandem-gpu/core'
import type { ByteRegion, PlanPart } from '@tandem-gpu/core/backend'
import { expect, it } from 'vitest'
import { lowerPlan } from './lower-plan.ts'
import type { DeviceMemory } from './native-addon.ts'

const region = (buffer: number): ByteRegion => ({
  buffer,
  byteOffset: 0,
  rowByteLength: 64,
  rows: 1,
  rowByteStride: 64,
})

const deviceMemory = {} as DeviceMemory

interface Edges {
  readonly after?: readonly number[]
  readonly afterPrevious?: readonly number[]
}

async function lower(
  parts: readonly ({
    kind: 'fill' | 'send' | 'receive'
    buffer: number
    ordinal?: number
    region?: ByteRegion
  } & Edges)[],
  schedule: Plan['schedule'] = 'overlapped',
  gpuAware = false,
) {
  const commands = parts.map((part, index): PlanPart => {
    const base = {
      index,
      label: `${part.kind} ${index}`,
      device: 5,
      after: part.after ?? [],
      afterPrevious: part.afterPrevious ?? [],
    }
    return part.kind === 'fill'
      ? { ...base, kind: 'fill', target: region(part.buffer), pattern: index, patternByteLength: 4 }
      : {
          ...base,
          kind: part.kind,
          peer: 1,
          program: 0,
          ordinal: part.ordinal ?? index,
          region: part.region ?? region(part.buffer),
        }
  })
  const staging: number[] = []
  const lowered = await lowerPlan(
    {
      label: 'plan',
      schedule,
      commands,
      kernels: [],
      uniformBlock: new Uint8Array(0),
      buffers: [
        { kind: 'host', label: 'host', byteLength: 64, allocation: { arrayBuffer: new ArrayBuffer(64) } },
        { kind: 'device', label: 'a', device: 5, byteLength: 64, allocation: { device: 0, byteLength: 64 } },
        { kind: 'device', label: 'b', device: 5, byteLength: 64, allocation: { device: 0, byteLength: 64 } },
      ],
    },
    () => 0,
    {
      through: gpuAware ? 'device' : 'host',
      addressed: () => (gpuAware ? Promise.resolve(deviceMemory) : undefined),
      async stage(device, byteLength, label) {
        staging.push(byteLength)
        if (gpuAware) {
          const buffer = { kind: 'device', label, device, byteLength } as const
          return { buffer: { ...buffer, allocation: { device, byteLength } }, memory: deviceMemory }
        }
        const allocation = { arrayBuffer: new ArrayBuffer(byteLength) }
        return { buffer: { kind: 'host', label, byteLength, allocation }, memory: allocation.arrayBuffer }
      },
    },
  )
  const nodes = [
    ...lowered.segments.map(({ plan }) => plan.commands.map(({ kind }) => kind).join(' ')),
    ...lowered.messages.map(({ kind }) => kind),
  ]
  return { ...lowered, nodes, staging }
}

it('sends device memory through host memory that the next repetition reuses only once it is sent', async () => {
  const { nodes, after, afterPrevious, staging } = await lower([
    { kind: 'fill', buffer: 1, afterPrevious: [1] },
    { kind: 'send', buffer: 1, after: [0] },
  ])
  expect(nodes).toEqual(['fill download', 'send'])
  expect(after).toEqual([[], [0]])
  // The fill of the next repetition waits for the download, which is in its own segment; the download waits
  // for the send.
  expect(afterPrevious).toEqual([[1], []])
  expect(staging).toEqual([64])
})

it('posts a receive before the commands for which its target waits, and uploads afterwards', async () => {
  const { nodes, after, afterPrevious } = await lower([
    { kind: 'fill', buffer: 1 },
    { kind: 'receive', buffer: 2, after: [0] },
  ])
  expect(nodes).toEqual(['fill', 'upload', 'receive'])
  expect(after).toEqual([[], [0, 2], []])
  expect(afterPrevious[2]).toEqual([1])
})

it('keeps the chain of the serial schedule', async () => {
  const { nodes, after } = await lower(
    [
      { kind: 'receive', buffer: 2 },
      { kind: 'send', buffer: 1, after: [0] },
      { kind: 'fill', buffer: 1, after: [1] },
    ],
    'serial',
  )
  expect(nodes).toEqual(['upload download', 'fill', 'receive', 'send'])
  expect(after).toEqual([[2], [3], [], [0]])
})

it('passes on messages of host memory unchanged, and gives the inner backend its own ordinals', async () => {
  const { nodes, messages, segments, staging } = await lower([
    { kind: 'send', buffer: 0 },
    { kind: 'fill', buffer: 1 },
  ])
  expect(nodes).toEqual(['fill', 'send'])
  expect(messages[0]).toMatchObject({ rows: 1, rowByteLength: 64 })
  expect(staging).toEqual([])
  expect(segments[0]!.plan.commands[0]!.device).toBe(0)
  expect(segments[0]!.plan.buffers[1]).toMatchObject({ device: 0 })
  expect(segments[0]!.originalIndex).toEqual([1])
})

it('issues the commands for which a message waits before those that may run at the same time', async () => {
  const { nodes, after } = await lower([
    { kind: 'fill', buffer: 1 },
    { kind: 'fill', buffer: 2 },
    { kind: 'send', buffer: 2, after: [1] },
  ])
  expect(nodes).toEqual(['fill download', 'fill', 'send'])
  expect(after).toEqual([[], [], [0]])
})

it('keeps messages with the same tag in order', async () => {
  const { after, afterPrevious, messages } = await lower([
    { kind: 'send', buffer: 0, ordinal: 3 },
    { kind: 'send', buffer: 0, ordinal: 3 + 16_384 },
    { kind: 'send', buffer: 0, ordinal: 4 },
  ])
  expect(messages.map(({ tag }) => tag)).toEqual([3, 3, 4])
  expect(after).toEqual([[], [0], []])
  expect(afterPrevious).toEqual([[1], [], []])
})

it('sends a long message in pieces, downloading one while another is being sent', async () => {
  const long = { buffer: 1, byteOffset: 0, rowByteLength: 18 * 2 ** 20, rows: 1, rowByteStride: 18 * 2 ** 20 }
  const { nodes, after, afterPrevious, staging } = await lower([{ kind: 'send', buffer: 1, region: long }])
  expect(nodes).toEqual([...Array(5).fill('download'), ...Array(5).fill('send')])
  expect(staging).toEqual([12 * 2 ** 20])
  // Each download waits for the message that had its memory before it; messages follow their downloads and
  // one another.
  expect(after).toEqual([[], [], [], [5], [6], [0], [1, 5], [2, 6], [3, 7], [4, 8]])
  expect(afterPrevious).toEqual([[8], [9], [7], [], [], [9], [], [], [], []])
})

it('passes on messages of device memory unchanged if MPI accepts them: later commands wait for the message itself', async () => {
  const { nodes, messages, after, afterPrevious, staging } = await lower(
    [
      { kind: 'fill', buffer: 1, afterPrevious: [1] },
      { kind: 'send', buffer: 1, after: [0] },
      { kind: 'receive', buffer: 2, afterPrevious: [3] },
      { kind: 'fill', buffer: 2, after: [2] },
    ],
    'overlapped',
    true,
  )
  expect(nodes).toEqual(['fill', 'fill', 'send', 'receive'])
  expect(messages.map(({ memory }) => memory)).toEqual([deviceMemory, deviceMemory])
  expect(after).toEqual([[], [3], [0], []])
  expect(afterPrevious).toEqual([[2], [], [], [1]])
  expect(staging).toEqual([])
})

it('copies rows with gaps through dense device memory if MPI accepts that', async () => {
  const rows = { buffer: 1, byteOffset: 4, rowByteLength: 8, rows: 3, rowByteStride: 16 }
  const { nodes, messages, segments, staging } = await lower(
    [{ kind: 'send', buffer: 1, region: rows }],
    'overlapped',
    true,
  )
  expect(nodes).toEqual(['copy', 'send'])
  expect(messages[0]).toMatchObject({ memory: deviceMemory, byteOffset: 0, rows: 1, rowByteLength: 24 })
  expect(segments[0]!.plan.commands[0]).toMatchObject({
    device: 0,
    source: rows,
    target: { buffer: 3, byteOffset: 0, rowByteLength: 8, rows: 3, rowByteStride: 8 },
  })
  expect(staging).toEqual([24])
})
