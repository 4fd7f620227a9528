import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { describeOnBackends } from '../../testing-groups.ts'
import { matmul } from '../matmul.ts'
import { generatedHalves, halfBits, halfValue } from './half-elements.ts'
import { chooseHalfBlocking } from './half-kernels.ts'

async function random(length: number, seed: number): Promise<Uint16Array<ArrayBuffer>> {
  const array = new Uint16Array(length)
  await generatedHalves(seed)(0, array)
  return array
}

describe('f16 on the host', () => {
  it('keeps every f16, and rounds to the nearest, ties to even', () => {
    for (let half = 0; half < 65536; half++) {
      const value = halfValue(half)
      if (!Number.isNaN(value)) expect(halfBits(value)).toBe(half)
    }
    expect(halfBits(1 + 2 ** -11)).toBe(halfBits(1))
    expect(halfBits(1 + 3 * 2 ** -11)).toBe(halfBits(1 + 2 ** -9))
    expect([65519.996, 65520, -1e30, Number.NaN].map(halfBits)).toEqual([0x7bff, 0x7c00, 0xfc00, 0x7e00])
    expect(halfBits(2 ** -25)).toBe(0)
    expect(halfBits(2 ** -25 * 1.0001)).toBe(1)
  })
})

describeOnBackends('matmul of f16', (backend) => {
  it.each([
    [1, 1, 1, 1],
    [5, 7, 3, 2],
    [37, 33, 19, 1],
    [64, 70, 130, 2],
    [0, 4, 4, 1],
    [4, 4, 0, 1],
  ])(
    'multiplies %i × %i with k = %i on %i devices',
    async (m, n, k, devices) => {
      const group = await backend.group(devices)
      for (const resultType of ['f16', 'f32'] as const) {
        const report = await matmul(group, { m, n, k, type: 'f16', resultType, devices, warmup: 0 })
        expect(report).toMatchObject({ verified: true, type: 'f16', resultType, devices })
      }
    },
    120_000,
  )

  it('gives exact sums of whole numbers, and infinity beyond the largest f16', async () => {
    const group = await backend.group(1)
    const [m, n, k] = [9, 11, 21]
    const whole = (length: number, seed: number) =>
      random(length, seed).then((x) => x.map((half) => halfBits(Math.round(halfValue(half) * 8))))
    const [a, b] = [await whole(m * k, 1), await whole(k * n, 2)]
    for (let q = 0; q < k; q++) a[2 * k + q] = halfBits(300)
    for (let q = 0; q < k; q++) b[q * n + 3] = halfBits(300)
    const output = new Uint16Array(m * n)
    const report = await matmul(group, { m, n, k, type: 'f16', a, b, output, warmup: 0, verify: false })
    expect(report.checked).toBe(false)
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0
        for (let q = 0; q < k; q++) sum += halfValue(a[i * k + q]!) * halfValue(b[q * n + j]!)
        expect(output[i * n + j], `${i} ${j}`).toBe(halfBits(sum))
      }
    expect(output[2 * n + 3]).toBe(0x7c00)
  })

  it('refuses what is for other types', async () => {
    const group = await backend.group(1)
    const options = { m: 4, n: 4, k: 4, type: 'f16' } as const
    await expect(matmul(group, { ...options, streamWidth: 4 } as never)).rejects.toMatchObject({
      code: 'unsupported',
    })
    await expect(matmul(group, { ...options, mode: 'streamed' } as never)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining("mode 'streamed'"),
    })
    await expect(matmul(group, { ...options, a: new Uint16Array(3) })).rejects.toMatchObject({
      code: 'validation',
    })
  })
})

describe('the blocking of products of f16', () => {
  it('cuts k by the shape alone, into parts of whole steps of at least 512', async () => {
    const limits = { maxWorkgroupMemoryByteLength: 232_448, maxWorkgroupInvocations: 1024 }
    const group = await openGroup({ backends: [referenceBackend({ limits })], devices: 2, virtual: true })
    const partsOf = (m: number, n: number, k: number) => {
      const one = chooseHalfBlocking({ m, n, k }, m, group.devices.slice(0, 1))
      const { parts, depth } = chooseHalfBlocking({ m, n, k }, Math.ceil(m / 2), group.devices)
      expect([parts, depth]).toEqual([one.parts, one.depth])
      return [one.parts, one.depth]
    }
    expect(partsOf(64, 8192, 8192)).toEqual([4, 2048])
    expect(partsOf(8192, 256, 8192)).toEqual([2, 4096])
    expect(partsOf(512, 8192, 8192)).toEqual([1, 8192])
    expect(partsOf(5, 3, 8320)).toEqual([13, 640])
    expect(partsOf(5, 3, 1000)).toEqual([1, 1024])
    expect(partsOf(0, 0, 0)).toEqual([1, 0])
    const tileOf = (m: number, n: number) =>
      chooseHalfBlocking({ m, n, k: 8192 }, m, group.devices).tile.columns
    expect([tileOf(4096, 4096), tileOf(64, 8192), tileOf(8192, 64)]).toEqual([256, 256, 128])
    await group.destroy()
  })
})

describe('matmul of f16 on tensor cores of the reference executor', () => {
  const limits = { maxWorkgroupMemoryByteLength: 232_448, maxWorkgroupInvocations: 1024 }
  const open = () => openGroup({ backends: [referenceBackend({ limits })], devices: 1 })
  const whole = (length: number, seed: number) =>
    random(length, seed).then((x) => x.map((half) => halfBits(Math.round(halfValue(half) * 8))))

  it('gives what ordinary kernels give', async () => {
    const group = await open()
    const [m, n, k] = [70, 20, 40]
    const [a, b] = [await whole(m * k, 3), await whole(k * n, 4)]
    const output = new Float32Array(m * n)
    const options = { m, n, k, type: 'f16', resultType: 'f32', a, b, output, warmup: 0 } as const
    expect(await matmul(group, options)).toMatchObject({ verified: true, body: 'tensor', maxError: 0 })
    const { leaks } = await group.destroy()
    expect(leaks).toEqual([])
  })

  it('adds the parts of a k that is cut', async () => {
    const group = await open()
    const [m, n, k] = [3, 5, 1030]
    const [a, b] = [await whole(m * k, 5), await whole(k * n, 6)]
    for (const resultType of ['f32', 'f16'] as const) {
      const report = await matmul(group, { m, n, k, type: 'f16', resultType, a, b, warmup: 0 })
      expect(report).toMatchObject({ verified: true, body: 'tensor', maxError: 0 })
    }
    await group.destroy()
  })
})
