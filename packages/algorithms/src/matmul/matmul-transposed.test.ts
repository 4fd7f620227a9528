import type { DeviceGroup, HostBuffer } from '@tandem-gpu/core'
import { expect, it } from 'vitest'
import { random } from '../testing-elements.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { withLimits } from '../testing-limits.ts'
import { matmul } from './matmul.ts'
import { compileMatmul } from './single/matmul-kernels.ts'
import { recordMatmul } from './single/record-matmul.ts'
import { planStream, withTransposedRows } from './stream/plan-stream.ts'
import { recordStreamedMatmul } from './stream/record-stream.ts'
import { matmulVerifier } from './verify/verify-matmul.ts'

describeOnBackends('matmul', (backend) => {
  const slow = backend.name === 'reference'
  // A CPU adapter takes up to fifteen seconds to compile a kernel.
  const few = backend.name === 'webgpu'
  // The reference executor always runs the tests that have this reason to be skipped.
  const slowTransposed = [
    few && process.env.TANDEM_LONG !== '1',
    'in the long form: a CPU adapter takes 20 s to compile the kernels that transpose A',
  ] as const

  const transposedCases = [
    ['f32', 1],
    ['f32', 3],
    ['i32', 1],
    ['u32', 2],
  ] as const
  it.each(few ? [] : transposedCases)(
    'multiplies %s from A transposed, K in %i parts, with the bits of the other tiles',
    async (type, parts) => {
      const group = await backend.group(1)
      const device = group.devices[0]!
      const tile = { tileRows: 128, tileColumns: 128, parts }
      const kernels = [
        await compileMatmul(group, type, { body: 'transposed', ...tile }),
        await compileMatmul(group, type, { body: 'tiled', ...tile }),
      ]
      const shapes = [
        [1, 4, 1],
        [3, 20, 7],
        [127, 12, 8],
        [129, 3, 17],
        [5, 130, 31],
        ...(slow
          ? []
          : [
              [130, 257, 16],
              [260, 129, 41],
              [63, 66, 96],
            ]),
      ] as [number, number, number][] // m, n, k
      for (const [m, n, k] of shapes) {
        // Columns from n on are padding, as in the matrices that `matmul` allocates.
        const width = Math.ceil(n / 4) * 4
        const a = random(type, m * k, 8)
        const b = random(type, k * n, 9)
        const x = await device.allocate(type, [m, k])
        const y = await device.allocate(type, [k, width])
        await group.queue.write(x, a as never)
        await group.queue.write(y.block(0, 0, k, n), b as never)
        const results = []
        for (const one of kernels) {
          const z = await device.allocate(type, [m + 1, width])
          const program = group.record((r) => recordMatmul(r, one, x, y, z.block(0, 0, m, width)))
          const label = 'matmul transpose A'
          expect(program.plan.commands.some((command) => command.label === label)).toBe(one === kernels[0])
          await group.queue.run(program)
          expect(new Set(await group.queue.read(z.block(m, 0, 1, width)))).toEqual(new Set([0]))
          results.push(await group.queue.read(z.block(0, 0, m, n)))
          for (const resource of [program, z]) resource.destroy()
        }
        expect(new Uint8Array(results[0]!.buffer)).toEqual(new Uint8Array(results[1]!.buffer))
        const verifier = await matmulVerifier(type, { m, n, k }, a, b)
        await verifier.rows(0, results[0]!)
        expect(verifier.result()).toMatchObject({ verified: true })
        for (const buffer of [x, y]) buffer.destroy()
      }
      for (const one of kernels) one.destroy()
    },
  )

  it('transposes each piece of A when it arrives, once in a round, for all panels', async ({ skip }) => {
    skip(...slowTransposed)
    const group = await backend.group(1)
    const shape = { m: 4299, n: 12, k: 5 }
    const { m, n, k } = shape
    const kernels = await compileMatmul(group, 'f32', {
      body: 'transposed',
      tileRows: 128,
      tileColumns: 128,
      parts: 1,
    })
    const plan = planStream(shape, group.devices, { streamWidth: 8, memoryLimitBytes: 275_520 })
    expect(plan).toMatchObject({ rounds: 2, panels: 2, aBuffers: 2, rowBlock: 2150 })
    const room = 4 * 2 * 2152 * k
    expect(withTransposedRows(plan, k, 275_520 + room)?.byteLength).toBe(plan.byteLength + room)
    expect(withTransposedRows(plan, k, 275_520)).toBeUndefined()
    const [a, b, c] = [m * k, k * n, m * n].map((length) => group.allocateHost('f32', length)) as [
      HostBuffer<'f32'>,
      HostBuffer<'f32'>,
      HostBuffer<'f32'>,
    ]
    a.array.set(random('f32', m * k, 1))
    b.array.set(random('f32', k * n, 2))
    const program = group.record((r) =>
      recordStreamedMatmul(r, group, {
        devices: group.devices,
        kernels: () => kernels,
        shape,
        host: { a, b, c },
        plan,
      }),
    )
    const labels = program.plan.commands.map(({ label }) => label)
    expect(labels.filter((label) => label === 'upload A')).toHaveLength(4)
    expect(labels.filter((label) => label === 'product transpose A')).toHaveLength(4)
    expect(labels.filter((label) => label === 'product')).toHaveLength(6)
    await group.queue.run(program)
    const verifier = await matmulVerifier('f32', shape, a.array, b.array)
    await verifier.rows(0, c.array)
    expect(verifier.result()).toMatchObject({ verified: true })
    for (const resource of [program, kernels, a, b, c]) resource.destroy()
  })

  it('cuts A transposed if it exceeds a binding', async ({ skip }) => {
    skip(...slowTransposed)
    const group = await backend.group(1)
    const device = group.devices[0]!
    const kernels = await compileMatmul(group, 'f32', {
      body: 'transposed',
      tileRows: 128,
      tileColumns: 128,
      parts: 1,
    })
    const { m, n, k } = { m: 301, n: 8, k: 9 }
    const x = await device.allocate('f32', [m, k])
    const y = await device.allocate('f32', [k, n])
    const z = await device.allocate('f32', [m, n])
    const a = random('f32', m * k, 1) as Float32Array<ArrayBuffer>
    const b = random('f32', k * n, 2) as Float32Array<ArrayBuffer>
    await group.queue.write(x, a)
    await group.queue.write(y, b)
    const program = group.record((recorder) => {
      const limited = withLimits(recorder, { maxStorageBindingByteLength: 256 + 140 * k * 4 })
      recordMatmul(limited, kernels, x, y, z, { device: limited.devices[0]! })
    })
    expect(program.plan.commands).toHaveLength(6)
    await group.queue.run(program)
    const verifier = await matmulVerifier('f32', { m, n, k }, a, b)
    await verifier.rows(0, await group.queue.read(z))
    expect(verifier.result()).toMatchObject({ verified: true })
    for (const resource of [program, kernels, x, y, z]) resource.destroy()
  })

  it('does not transpose A where B or C do not allow 16-byte accesses', async ({ skip }) => {
    skip(...slowTransposed)
    const group = await backend.group(1)
    const device = group.devices[0]!
    const kernels = await compileMatmul(group, 'f32', {
      body: 'transposed',
      tileRows: 128,
      tileColumns: 128,
      parts: 1,
    })
    const [m, k] = [6, 9]
    const a = random('f32', m * k, 1) as Float32Array<ArrayBuffer>
    const x = await device.allocate('f32', [m, k])
    await group.queue.write(x, a)
    // The number of columns of B and C, and of columns before B in its matrix.
    for (const [n, before] of [
      [7, 0],
      [8, 1],
    ] as const) {
      const b = random('f32', k * n, 2) as Float32Array<ArrayBuffer>
      const whole = await device.allocate('f32', [k, before + n])
      const y = whole.block(0, before, k, n)
      const z = await device.allocate('f32', [m, n])
      await group.queue.write(y, b)
      const program = group.record((r) => recordMatmul(r, kernels, x, y, z))
      expect(program.plan.commands.map(({ label }) => label)).toEqual(['matmul'])
      await group.queue.run(program)
      const verifier = await matmulVerifier('f32', { m, n, k }, a, b)
      await verifier.rows(0, await group.queue.read(z))
      expect(verifier.result()).toMatchObject({ verified: true })
      for (const resource of [program, whole, z]) resource.destroy()
    }
    for (const resource of [kernels, x]) resource.destroy()
  })

  it('transposes A for large products on hardware, resident and streamed, if there is memory', async ({
    skip,
  }) => {
    if (!slow) skip('needs kernels that compile at once: nothing runs here')
    const group = asHardware(await backend.group(1))
    const shape = { m: 1024, n: 1030, k: 520 }
    // A, two panels and two tiles of C, and a tile for each of the three parts of k.
    const streamed = 4 * (1024 * 520 + 2 * (520 + 1024) * 516 + 3 * 1024 * 516)
    const room = 4 * 1024 * 520
    for (const [extra, transposes] of [
      [{}, true],
      [{ streamWidth: 516 }, true],
      [{ streamWidth: 516, memoryLimitBytes: streamed + room }, true],
      [{ streamWidth: 516, memoryLimitBytes: streamed + room - 1 }, false],
      [{ streamWidth: 508 }, false],
      [{ n: 1020 }, false],
    ] as const) {
      const labels = new Set<string | undefined>()
      const recorded = matmul(group, {
        ...shape,
        ...extra,
        onProgram: ({ plan }) => {
          for (const command of plan.commands) labels.add(command.label)
          throw new Error('seen')
        },
      })
      await expect(recorded).rejects.toThrow('seen')
      expect([...labels].some((label) => label?.endsWith('transpose A'))).toBe(transposes)
    }
  })
})

/** The group, presented as hardware. */
function asHardware(group: DeviceGroup): DeviceGroup {
  const bound = (target: object, key: string | symbol) => {
    const value: unknown = Reflect.get(target, key, target)
    return typeof value === 'function' ? value.bind(target) : value
  }
  const devices = group.devices.map(
    (device) =>
      new Proxy(device, {
        get: (target, key) => (key === 'info' ? { ...target.info, software: false } : bound(target, key)),
      }),
  )
  return new Proxy(group, {
    get: (target, key) =>
      key === 'software'
        ? false
        : key === 'devices'
          ? devices
          : key === 'canAccessPeer'
            ? () => true
            : bound(target, key),
  })
}
