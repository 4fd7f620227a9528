import fc from 'fast-check'
import { expect, it } from 'vitest'
import { referenceMatmul } from '../testing/reference-results.ts'
import { random } from '../testing-elements.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { randomRuns } from '../testing-runs.ts'
import { matmul } from './matmul.ts'
import { chooseBlocking, compileMatmul } from './single/matmul-kernels.ts'
import { recordMatmul } from './single/record-matmul.ts'
import { planStream } from './stream/plan-stream.ts'
import { recordStreamedMatmul } from './stream/record-stream.ts'
import { matmulVerifier } from './verify/verify-matmul.ts'

describeOnBackends('matmul', (backend) => {
  const slow = backend.name === 'reference'
  // A CPU adapter takes up to fifteen seconds to compile a kernel.
  const few = backend.name === 'webgpu'

  it.each([
    [0, 5, 4, 2],
    [5, 0, 4, 2],
    [5, 4, 0, 3],
    [1, 1, 1, 4],
    [1, 37, 19, 3],
    [37, 1, 19, 3],
    [3, 5, 41, 8],
    [33, 129, 35, 3],
  ])('multiplies %i × %i with k = %i on %i devices', async (m, n, k, devices) => {
    const group = await backend.group(devices)
    for (const extra of [{}, { streamWidth: 16 }] as const)
      for (const type of ['f32', 'i32'] as const) {
        const report = await matmul(group, { m, n, k, type, warmup: 0, ...extra })
        expect(report).toMatchObject({ verified: true, devices, shape: { m, n, k }, unit: 'GFLOP/s' })
      }
  })

  it('is right for any shape, device count, mode, schedule and element type', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          m: fc.nat(slow ? 40 : 70),
          n: fc.nat(slow ? 40 : 70),
          k: fc.nat(slow ? 30 : 70),
          devices: fc.integer({ min: 1, max: 4 }),
          peerAccess: fc.boolean(),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          type: fc.constantFrom('f32' as const, 'i32' as const, 'u32' as const),
          streamWidth: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
          seed: fc.nat(1000),
        }),
        async ({ devices, peerAccess, streamWidth, ...options }) => {
          const group = await backend.group(devices, { peerAccess })
          const report = await matmul(group, {
            ...options,
            // Groups without peer access use separate kernels.
            ...(few && !peerAccess && { type: 'f32' }),
            ...(streamWidth !== undefined && { streamWidth }),
            warmup: 0,
            repetitions: 2,
          })
          expect(report).toMatchObject({ verified: true })
          if (report.mode === 'resident') expect(report.stream).toBeUndefined()
        },
      ),
      { numRuns: randomRuns(slow ? 8 : 12) },
    )
  })

  it('gives the same bits for every device count, resident or streamed, and for every leading dimension', async () => {
    const shape = slow ? { m: 23, n: 18, k: 21 } : { m: 61, n: 45, k: 53 }
    const { m, n, k } = shape
    const a = random('f32', m * k, 1) as Float32Array<ArrayBuffer>
    const b = random('f32', k * n, 2) as Float32Array<ArrayBuffer>
    const results: Uint32Array[] = []
    for (const devices of [1, 2, 3, 4, 8])
      for (const extra of [
        {},
        { streamWidth: 7 },
        { streamWidth: 16, memoryLimitBytes: slow ? 3_000 : 9_000 },
      ]) {
        const c = new Float32Array(m * n)
        const group = await backend.group(devices)
        await matmul(group, { ...shape, a, b, output: c, warmup: 0, verify: false, ...extra })
        results.push(new Uint32Array(c.buffer))
      }
    for (const result of results) expect(result).toEqual(results[0])
  })

  it('multiplies sub-matrices in place', async () => {
    const group = await backend.group(1)
    const device = group.devices[0]!
    const kernels = await compileMatmul(group, 'i32', chooseBlocking(device, { m: 19, n: 22, k: 13 }))
    const a = random('i32', 40 * 40, 3) as Int32Array<ArrayBuffer>
    const b = random('i32', 40 * 40, 4) as Int32Array<ArrayBuffer>
    const buffers = await Promise.all([0, 1, 2].map(() => device.allocate('i32', [40, 40])))
    const [x, y, z] = buffers as [(typeof buffers)[0], (typeof buffers)[0], (typeof buffers)[0]]
    await group.queue.write(x, a)
    await group.queue.write(y, b)
    const program = group.record((r) =>
      recordMatmul(r, kernels, x.block(3, 5, 19, 13), y.block(7, 1, 13, 22), z.block(2, 9, 19, 22)),
    )
    await group.queue.run(program)
    const cut = (data: Int32Array, row: number, column: number, rows: number, columns: number) =>
      Int32Array.from(
        { length: rows * columns },
        (_, i) => data[(row + Math.floor(i / columns)) * 40 + column + (i % columns)]!,
      )
    const expected = new Int32Array(1600)
    const product = referenceMatmul(
      'i32',
      { m: 19, n: 22, k: 13 },
      cut(a, 3, 5, 19, 13),
      cut(b, 7, 1, 13, 22),
    )
    for (let row = 0; row < 19; row++)
      expected.set(product.subarray(row * 22, (row + 1) * 22), (row + 2) * 40 + 9)
    expect(await group.queue.read(z)).toEqual(expected)
    for (const resource of [program, kernels, ...buffers]) resource.destroy()
  })

  it('reads and writes the caller’s data in pieces', async () => {
    const group = await backend.group(3)
    const [m, n, k] = [29, 31, 17]
    const a = random('u32', m * k, 5) as Uint32Array<ArrayBuffer>
    const b = random('u32', k * n, 6) as Uint32Array<ArrayBuffer>
    for (const extra of [{}, { streamWidth: 8 }]) {
      const c = new Uint32Array(m * n)
      let expectedOffset = 0
      const report = await matmul(group, {
        m,
        n,
        k,
        type: 'u32',
        a: (offset, into) => into.set(a.subarray(offset, offset + into.length)),
        b: (offset, into) => into.set(b.subarray(offset, offset + into.length)),
        output: (offset, data) => {
          expect(offset).toBe(expectedOffset)
          expectedOffset += data.length
          c.set(data, offset)
        },
        warmup: 0,
        ...extra,
      })
      expect(report.verified).toBe(true)
      expect(c).toEqual(referenceMatmul('u32', { m, n, k }, a, b))
    }
  })

  it.each([
    ...(few ? [] : [[128, 128, 1]]),
    [64, 64, 3],
    ...(slow
      ? [
          [64, 128, 2],
          [128, 64, 1],
          [64, 256, 1],
          [256, 128, 2],
        ]
      : []),
  ])('multiplies in tiles of %i × %i, K in %i parts', async (tileRows, tileColumns, parts) => {
    const group = await backend.group(1)
    const device = group.devices[0]!
    const kernels = await compileMatmul(group, 'f32', { body: 'tiled', tileRows, tileColumns, parts })
    const shapes = slow
      ? [
          [5, 9, 11],
          [66, 68, 20],
        ]
      : [
          [5, 9, 11],
          [130, 140, 40],
        ] // m, n, k
    for (const [m, n, k] of shapes as [number, number, number][]) {
      const a = random('f32', m * k, 8) as Float32Array<ArrayBuffer>
      const b = random('f32', k * n, 9) as Float32Array<ArrayBuffer>
      const x = await device.allocate('f32', [m, k])
      const y = await device.allocate('f32', [k, n])
      const z = await device.allocate('f32', [m, n])
      await group.queue.write(x, a)
      await group.queue.write(y, b)
      const program = group.record((r) => recordMatmul(r, kernels, x, y, z))
      await group.queue.run(program)
      const verifier = await matmulVerifier('f32', { m, n, k }, a, b)
      await verifier.rows(0, await group.queue.read(z))
      expect(verifier.result()).toMatchObject({ verified: true })
      program.destroy()
      for (const buffer of [x, y, z]) buffer.destroy()
    }
    kernels.destroy()
  })

  it('adds parts of K of products that stream with the bits of those that stay, in one tile for the parts', async () => {
    const group = await backend.group(1)
    const device = group.devices[0]!
    const parts = 3
    const blocking = { body: 'tiled', tileRows: 64, tileColumns: 64, parts } as const
    const kernels = await compileMatmul(group, 'f32', blocking)
    // The last shape has one part fewer than requested.
    for (const [m, n, k] of [
      [5, 9, 31],
      [37, 36, 44],
      [4, 8, 12],
    ] as [number, number, number][]) {
      const shape = { m, n, k }
      const [x, y] = [random('f32', m * k, 8), random('f32', k * n, 9)]
      const a = await device.allocate('f32', [m, k])
      const b = await device.allocate('f32', [k, n])
      const c = await device.allocate('f32', [m, n])
      await group.queue.write(a, x as Float32Array<ArrayBuffer>)
      await group.queue.write(b, y as Float32Array<ArrayBuffer>)
      const resident = group.record((r) => recordMatmul(r, kernels, a, b, c))
      await group.queue.run(resident)
      const host = {
        a: group.allocateHost('f32', m * k),
        b: group.allocateHost('f32', k * n),
        c: group.allocateHost('f32', m * n),
      }
      host.a.array.set(x as Float32Array)
      host.b.array.set(y as Float32Array)
      // One element too small for all rows of A, two panels, two tiles of C and one tile for each part.
      const row = Math.ceil(k / 4) * 4 + (2 + parts) * 4
      const room = { streamWidth: 4, memoryLimitBytes: 4 * (2 * 4 * k + m * row - 1) }
      const plan = planStream(shape, group.devices, { ...room, parts })
      expect(plan.rounds).toBeGreaterThan(1)
      expect(plan.byteLength).toBeLessThanOrEqual(room.memoryLimitBytes)
      const streamed = group.record((r) =>
        recordStreamedMatmul(r, group, {
          devices: group.devices,
          kernels: () => kernels,
          shape,
          host,
          plan,
        }),
      )
      await group.queue.run(streamed, 2)
      expect(new Uint32Array(host.c.array.buffer)).toEqual(
        new Uint32Array((await group.queue.read(c)).buffer),
      )
      for (const resource of [resident, streamed, a, b, c, ...Object.values(host)]) resource.destroy()
    }
    kernels.destroy()
  })

  it('copies a section of an array straight from one device to another between products', async () => {
    const group = await backend.group(2)
    const [first, second] = [group.devices[0]!, group.devices[1]!]
    const a = await first.allocate('f32', [20, 24])
    const b = await second.allocate('f32', [16, 32])
    await group.queue.write(a, random('f32', 480, 7) as Float32Array<ArrayBuffer>)
    const program = group.record((r) => r.copy(a.block(3, 5, 9, 11), b.block(6, 20, 9, 11)))
    await group.queue.run(program)
    const source = random('f32', 480, 7)
    const copied = await group.queue.read(b)
    for (let row = 0; row < 16; row++)
      for (let column = 0; column < 32; column++) {
        const inside = row >= 6 && row < 15 && column >= 20 && column < 31
        expect(copied[row * 32 + column]).toBe(inside ? source[(row - 3) * 24 + column - 15] : 0)
      }
    program.destroy()
    a.destroy()
    b.destroy()
  })

  it('says when fewer devices are faster, and uses fewer if asked', async () => {
    const group = await backend.group(4)
    const all = await matmul(group, { m: 16, n: 16, k: 16, warmup: 0 })
    expect(all.prediction).toMatchObject({ best: 1, chosen: 4 })
    expect(all.prediction.seconds).toHaveLength(4)
    expect(all.notes.join()).toMatch(/1 device should be faster than 4/)
    expect(all.reasons.join(' ')).toMatch(
      /^4 of 4 devices compute, all of the group\..* The matrices stay on the devices, which have enough memory\. Products are formed in f32, the default precision\. The kernel of .* The sum over k is not divided into parts\. .* gathers all of B in one panel, because B has no more than 16,777,216 elements\.$/,
    )
    const auto = await matmul(group, { m: 16, n: 16, k: 16, devices: 'auto', warmup: 0 })
    expect(auto).toMatchObject({ devices: 1, verified: true, slices: [16] })
    expect(auto.reasons[0]).toMatch(/^1 of 4 devices computes, by prediction\./)
    if (slow) return
    const two = await matmul(group, { m: 16, n: 16, k: 16, devices: 2, warmup: 0, model: 'measure' })
    expect(two).toMatchObject({ devices: 2, verified: true, prediction: { model: { source: 'measured' } } })
  })

  it('rejects invalid shapes and options, and names their values', async () => {
    const group = await backend.group(2)
    const a = new Float32Array(12)
    await expect(matmul(group, { m: 3, n: 2, k: 5, a })).rejects.toMatchObject({
      code: 'validation',
      message: 'A has 12 elements, but the shape needs 15.',
    })
    await expect(matmul(group, { m: 3.5, n: 2, k: 5 })).rejects.toMatchObject({ code: 'validation' })
    await expect(matmul(group, { m: 3, n: 2, k: 5, devices: 3 })).rejects.toMatchObject({
      code: 'validation',
    })
    await expect(
      matmul(group, { m: 6, n: 5, k: 5, mode: 'resident', memoryLimitBytes: 4000 }),
    ).rejects.toMatchObject({
      code: 'validation',
      message: expect.stringMatching(/memory limit .* 'resident'/),
    })
    const tooLarge = await matmul(group, { m: 6, n: 5, k: 500, memoryLimitBytes: 4000 }).catch(
      (error: unknown) => error,
    )
    expect(tooLarge).toMatchObject({ code: 'too-large' })
    // Devices that split k need memory for the sums of its parts.
    const needed = Number(/4000 bytes .* k = 500 .* need (\d+) bytes/.exec(String(tooLarge))![1])
    expect(needed).toBeGreaterThanOrEqual(4004)
    const report = await matmul(group, { m: 6, n: 5, k: 500, memoryLimitBytes: needed, warmup: 0 })
    expect(report).toMatchObject({ verified: true, stream: { width: 1, rowBlock: 1, byteLength: needed } })
  })
})
