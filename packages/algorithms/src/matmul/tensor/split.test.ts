import { type Device, type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { generatedElements } from '../../element-source.ts'
import { describeOnBackends } from '../../testing-groups.ts'
import { matmul } from '../matmul.ts'
import { compileMatmul } from '../single/matmul-kernels.ts'
import { recordMatmul } from '../single/record-matmul.ts'
import { referenceRows } from '../verify/verify-matmul.ts'
import {
  compileSplit,
  gainsFromSplitting,
  hasSplitProducts,
  splitErrorFactor,
  splitWindows,
} from './split-kernels.ts'

function random(length: number, seed: number): Float32Array<ArrayBuffer> {
  const array = new Float32Array(length)
  generatedElements('f32', seed)(0, array)
  return array
}

/**
 * A group with tensor cores; the reference executor has those of an NVIDIA GPU. Undefined if the backend has
 * none.
 */
async function withTensorCores(
  name: string,
  devices: number,
  shared: (devices: number) => Promise<DeviceGroup>,
): Promise<{ group: DeviceGroup; close: () => Promise<void> } | undefined> {
  if (name !== 'reference') {
    const group = await shared(devices)
    return hasSplitProducts(group.devices[0]!) ? { group, close: async () => {} } : undefined
  }
  const limits = { maxWorkgroupMemoryByteLength: 232_448, maxWorkgroupInvocations: 1024 }
  const group = await openGroup({
    backends: [referenceBackend({ devices, limits })],
    devices,
    label: 'split',
  })
  return {
    group,
    close: async () => {
      const { leaks } = await group.destroy()
      expect(leaks).toEqual([])
    },
  }
}

describeOnBackends('matmul from f16 parts', (backend) => {
  const on = async (devices: number, use: (group: DeviceGroup) => Promise<void>): Promise<boolean> => {
    const opened = await withTensorCores(backend.name, devices, (count) => backend.group(count))
    if (opened === undefined) return false
    await use(opened.group)
    await opened.close()
    return true
  }
  const product = async (
    group: DeviceGroup,
    [m, n, k]: readonly [number, number, number],
    a: Float32Array<ArrayBuffer>,
    b: Float32Array<ArrayBuffer>,
    precision: 'ieee' | 'split',
    devices = 1,
  ) => {
    const output = new Float32Array(m * n)
    const report = await matmul(group, { m, n, k, a, b, output, precision, devices, warmup: 0, samples: 1 })
    expect(report).toMatchObject({ precision, verified: true, mode: 'resident' })
    return output
  }

  it('is chosen by shape and device, not by the number of devices', async () => {
    const config = { componentType: 'f16', resultComponentType: 'f32', M: 16, N: 16, K: 16 } as const
    const device = (software: boolean) =>
      ({
        features: new Set(['shader-f16', 'chromium-experimental-subgroup-matrix']),
        info: { software, subgroupMatrixConfigs: [config] },
        limits: { maxWorkgroupMemoryByteLength: 232_448 },
      }) as unknown as Device
    const gpu = device(false)
    const shape = { m: 1024, n: 1024, k: 512 }
    for (const devices of [[gpu], [gpu, gpu, gpu, gpu]]) expect(gainsFromSplitting(shape, devices)).toBe(true)
    expect(gainsFromSplitting({ ...shape, k: 511 }, [gpu])).toBe(false)
    expect(gainsFromSplitting(shape, [gpu, device(true)])).toBe(false)
  })

  it('has windows that the kernel takes and the bound holds for', () => {
    for (let k = 1; k < 200_000; k += 1 + (k >> 4)) {
      const { first, next } = splitWindows(k)
      expect([first % 32, next % 32, first * 2 <= next], `${k}`).toEqual([0, 0, true])
      expect(first).toBeGreaterThanOrEqual(32)
      expect(next).toBeGreaterThanOrEqual(64)
      expect(next).toBeLessThanOrEqual(192)
      expect((3 * next) / (first + 2 * next), `additions of windows, ${k}`).toBeLessThan(1.29)
    }
  })

  it('says so if a device has no tensor cores, and if memory is short', async () => {
    const options = { m: 64, n: 64, k: 64, precision: 'split', warmup: 0, samples: 1 } as const
    if (
      await on(1, async (group) => {
        await expect(matmul(group, { ...options, memoryLimitBytes: 70_000 })).rejects.toMatchObject({
          code: 'too-large',
        })
        await expect(matmul(group, { ...options, type: 'i32' })).rejects.toMatchObject({ code: 'validation' })
      })
    )
      return
    await expect(matmul(await backend.group(1), options)).rejects.toMatchObject({ code: 'unsupported' })
    const report = await matmul(await backend.group(1), { ...options, precision: 'auto' })
    expect(report.precision).toBe('ieee')
  })

  it('is within the bound for any shape, and more accurate than sums in f32 where k is large', async () => {
    await on(1, async (group) => {
      for (const shape of [
        [1, 1, 1],
        [65, 5, 130],
        [3, 20, process.env.TANDEM_LONG === '1' ? 385 : 257],
      ] as const) {
        const [m, n, k] = shape
        const [a, b] = [random(m * k, 3), random(k * n, 4)]
        const split = await product(group, shape, a, b, 'split')
        const ieee = await product(group, shape, a, b, 'ieee')
        const { value } = referenceRows('f32', m, n, k, a, b)
        const error = (c: Float32Array) =>
          Math.sqrt(c.reduce((sum, x, i) => sum + (x - value[i]!) ** 2, 0) / c.length)
        if (k >= 256) expect(error(split)).toBeLessThan(error(ieee))
      }
    })
  })

  it('has for positive inputs at most the error that cuBLAS was measured to have', async () => {
    await on(1, async (group) => {
      const shape = [8, 16, 2048] as const
      const positive = (length: number, seed: number) => random(length, seed).map((x) => (x + 1) / 2)
      const [a, b] = [positive(8 * 2048, 13), positive(2048 * 16, 14)]
      const split = await product(group, shape, a, b, 'split')
      const { value } = referenceRows('f32', ...shape, a, b)
      const squares = (x: ArrayLike<number>) => Array.from(x).reduce((sum, y) => sum + y * y, 0)
      const error = squares(Array.from(split, (x, i) => x - value[i]!))
      // In units of 2^-24. Sums of windows that begin with 0 would have 3.2, for windows of 64.
      expect(Math.sqrt(error / squares(value as Float64Array)) * 2 ** 24).toBeLessThan(2.65)
    })
  })

  it('is within the bound where all but one product of a group of windows are cut off', async () => {
    await on(1, async (group) => {
      const [m, n, k] = [3, 5, 160] as const
      expect(splitWindows(k)).toEqual({ first: 32, next: 64 })
      // Products that are 2^-25 of the first one, or slightly smaller.
      const row = (i: number, q: number) => (q === 0 ? 1 + i / 8 : 2 ** -12.52 * (1 - i / 20))
      const a = Float32Array.from({ length: m * k }, (_, at) => row(Math.floor(at / k), at % k))
      const b = Float32Array.from({ length: k * n }, (_, at) => row(at % n, Math.floor(at / n)))
      const split = await product(group, [m, n, k], a, b, 'split')
      const { value, magnitude } = referenceRows('f32', m, n, k, a, b)
      const errors = Array.from(split, (x, i) => (Math.abs(x - value[i]!) / magnitude[i]!) * 2 ** 24)
      expect(Math.max(...errors)).toBeLessThan(splitErrorFactor(k))
      if (backend.name === 'reference') expect(Math.max(...errors)).toBeGreaterThan(splitErrorFactor(k) / 2)
    })
  })

  it('is exact if the sums are', async () => {
    await on(1, async (group) => {
      const shape = [5, 40, 140] as const
      const whole = (length: number, seed: number) => random(length, seed).map((x) => Math.round(x * 1000))
      const [a, b] = [whole(5 * 140, 5), whole(140 * 40, 6)]
      const split = await product(group, shape, a, b, 'split')
      const { value } = referenceRows('f32', ...shape, a, b)
      expect([...split]).toEqual([...value])
    })
  })

  it('gives the bits of f32 sums if the parts cannot give the result', async () => {
    await on(1, async (group) => {
      const [m, n, k] = [70, 72, 40] as const
      const [a, b] = [random(m * k, 7), random(k * n, 8)]
      a[3 * k + 5] = Number.POSITIVE_INFINITY
      a[4 * k + 6] = Number.NaN
      for (let q = 0; q < k; q++) {
        a[5 * k + q] = 1e38 * (a[5 * k + q]! || 1) // products of row 5 overflow
        a[6 * k + q]! *= 2 ** -130 // subnormal
        a[7 * k + q]! *= 2 ** (-2 * q) // graded: most elements are below 2^-27 of the largest
        a[8 * k + q] = 0
        b[q * n + 9]! *= 2 ** -90
        b[q * n + 10]! *= 2 ** 100
        b[q * n + 11] = 0
      }
      b[2 * n + 12] = Number.NEGATIVE_INFINITY
      const options = { m, n, k, a, b, warmup: 0, samples: 1, verify: false } as const
      const [split, ieee] = [new Float32Array(m * n), new Float32Array(m * n)]
      await matmul(group, { ...options, output: split, precision: 'split' })
      await matmul(group, { ...options, output: ieee, precision: 'ieee' })
      const bits = (c: Float32Array, i: number, j: number) =>
        Number.isNaN(c[i * n + j]!) ? 'NaN' : new Uint32Array(c.buffer)[i * n + j]!
      const { value, magnitude } = referenceRows('f32', m, n, k, a, b)
      for (let i = 0; i < m; i++)
        for (let j = 0; j < n; j++) {
          const f32 = [3, 4, 5, 6].includes(i) || [9, 12].includes(j)
          if (f32 && ![8].includes(i)) expect(bits(split, i, j), `${i} ${j}`).toBe(bits(ieee, i, j))
          const at = i * n + j
          if (!Number.isFinite(value[at]!) || Math.abs(value[at]!) > 3.4e38 || split[at] === ieee[at])
            continue
          const largest = (data: Float32Array, start: number, step: number) =>
            Array.from({ length: k }, (_, q) => Math.abs(data[start + q * step]!)).reduce((x, y) =>
              Math.max(x, y),
            )
          const bound =
            splitErrorFactor(k) * 2 ** -24 * magnitude[at]! +
            k * 2 ** -49 * largest(a, i * k, 1) * largest(b, j, n)
          expect(Math.abs(split[at]! - value[at]!), `${i} ${j}`).toBeLessThanOrEqual(bound)
        }
    })
  })

  it('gives the same bits on any number of devices', async () => {
    const shape = [66, 8, 129] as const
    const [a, b] = [random(66 * 129, 9), random(129 * 8, 10)]
    a[1] = 1e-12
    const results: Float32Array[] = []
    for (const devices of [1, 2])
      await on(devices, async (group) => {
        results.push(await product(group, shape, a, b, 'split', devices))
      })
    // From host memory, in two panels.
    await on(2, async (group) => {
      const output = new Float32Array(66 * 8)
      const options = { m: 66, n: 8, k: 129, a, b, output, precision: 'split', devices: 2 } as const
      const stream = { streamWidth: 4, memoryLimitBytes: 330_000, warmup: 0, samples: 1 } as const
      const report = await matmul(group, { ...options, ...stream })
      expect(report).toMatchObject({
        precision: 'split',
        verified: true,
        mode: 'streamed',
        stream: { panels: 2 },
      })
      expect(report.stream!.byteLength).toBeLessThanOrEqual(330_000)
      results.push(output)
    })
    for (const result of results) expect([...result]).toEqual([...results[0]!])
  })

  it('takes views with any offset and stride', async () => {
    await on(1, async (group) => {
      const [m, n, k] = [66, 30, 37]
      const [device] = group.devices
      const [a, b] = [random(m * 41, 11), random(k * 33, 12)]
      const [x, y, z] = [
        await device!.allocate('f32', [m, 41]),
        await device!.allocate('f32', [k, 33]),
        await device!.allocate('f32', [m, 35]),
      ]
      await group.queue.write(x, a)
      await group.queue.write(y, b)
      const blocking = { body: 'registers', tileRows: 32, tileColumns: 32, parts: 1 } as const
      const kernels = await compileMatmul(group, 'f32', blocking)
      const split = await compileSplit(group)
      const program = group.record((recorder) =>
        recordMatmul(
          recorder,
          { ...kernels, split },
          x.block(0, 3, m, k),
          y.block(0, 1, k, n),
          z.block(0, 2, m, n),
        ),
      )
      await group.queue.run(program)
      const c = await group.queue.read(z.block(0, 0, m, 35))
      const cut = (data: Float32Array, width: number, rows: number, from: number, columns: number) =>
        Float32Array.from(
          { length: rows * columns },
          (_, i) => data[Math.floor(i / columns) * width + from + (i % columns)]!,
        )
      const { value, magnitude } = referenceRows('f32', m, n, k, cut(a, 41, m, 3, k), cut(b, 33, k, 1, n))
      for (let i = 0; i < m; i++)
        for (let j = 0; j < 35; j++) {
          const got = c[i * 35 + j]!
          if (j < 2 || j >= 2 + n) expect(got).toBe(0)
          else {
            const at = i * n + j - 2
            expect(Math.abs(got - value[at]!)).toBeLessThanOrEqual(50 * 2 ** -24 * magnitude[at]! + 1e-12)
          }
        }
      program.destroy()
      for (const owned of [x, y, z, kernels, split]) owned.destroy()
    })
  })
})
