import type { DeviceGroup } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { chooseProduct } from './choose-product.ts'
import { blockingName } from './tune-matmul.ts'

/** As much of a group of GPUs as decides how a product is computed. */
function gpus(count: number): DeviceGroup {
  const limits = {
    maxWorkgroupInvocations: 1024,
    maxWorkgroupMemoryByteLength: 49_152,
    maxBufferByteLength: 2 ** 36,
    maxStorageBindingByteLength: 2 ** 36,
  }
  const devices = Array.from({ length: count }, (_, ordinal) => ({
    ordinal,
    info: { id: `gpu-${ordinal}`, name: 'GPU', software: false, memoryByteLength: 2 ** 36 },
    limits,
  }))
  return { software: false, devices, canAccessPeer: () => true } as unknown as DeviceGroup
}

const cube = (side: number) => ({ m: side, n: side, k: side })

it('gives a reason for each decision, and says whether it was requested', async () => {
  const { reasons, blocking } = await chooseProduct(gpus(4), cube(3000), 'f32')
  expect(blocking).toMatchObject({ tileRows: 128, tileColumns: 128, body: 'transposed', parts: 2 })
  expect(reasons).toEqual([
    '4 of 4 devices compute, all of the group.',
    expect.stringMatching(/^4 devices of 4 should be fastest/),
    'The matrices stay on the devices, which have enough memory.',
    'Products are formed in f32, the default precision.',
    'The kernel of 128 × 128 (transposed) is expected to be the fastest of 4 for 750 × 3000 of C; that of 64 × 64 (tiled) should take 10 % longer.',
    'The sum over k is divided into 2 parts on every GPU, so that the bits are the same; on 132 multiprocessors, that should take 4.7 % less time than whole sums.',
    'Each device gathers all of B in one panel, because B has no more than 16,777,216 elements.',
  ])
  expect((await chooseProduct(gpus(4), cube(8192), 'f32')).reasons).toContain(
    'Each device gathers B in 4 panels of at most 2048 columns, because B has more than 16,777,216 elements.',
  )
  const requested = { precision: 'ieee', devices: 1, mode: 'resident' } as const
  expect((await chooseProduct(gpus(1), cube(64), 'f32', requested)).reasons).toEqual([
    'The group has one device.',
    expect.any(String),
    'The matrices stay on the devices, as requested.',
    'Products are formed in f32, as requested.',
    expect.stringMatching(/^The kernel of/),
    'The sum over k is not divided into parts.',
  ])
})

it('says that the shipped kernel was measured if tuning has measured it', async () => {
  const { blocking } = await chooseProduct(gpus(4), cube(3000), 'f32')
  const tuning = { get: () => blockingName(blocking), set: () => expect.unreachable() }
  const { reasons } = await chooseProduct(gpus(4), cube(3000), 'f32', { tuning })
  expect(reasons).toContain('The kernel of 128 × 128 (transposed) is measured to be the fastest of 4.')
})
