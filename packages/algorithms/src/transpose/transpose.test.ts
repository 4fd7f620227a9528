import type { DeviceGroup } from '@tandem-gpu/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { allocateSharded, gatherSharded, shardedFromViews, writeSharded } from '../sharded-matrix.ts'
import { describeOnBackends } from '../testing-groups.ts'
import { withLimits } from '../testing-limits.ts'
import { randomRuns } from '../testing-runs.ts'
import {
  chooseTransport,
  type RecordedTile,
  recordTranspose,
  type TileTransport,
} from './record-transpose.ts'
import { transpose } from './transpose.ts'
import { compileTranspose, type TransposeType, type TransposeVariant } from './transpose-kernels.ts'
import { transposeCandidates } from './tune-transpose.ts'
import { verifyTranspose } from './verify-transpose.ts'

describeOnBackends('transpose', (backend) => {
  const slow = backend.name === 'reference'
  // A CPU adapter takes up to several seconds to compile a kernel.
  const few = backend.name === 'webgpu'
  const kernels: TransposeVariant[] = few ? ['registers', 'strips'] : ['square', 'strips', 'registers']
  const types: TransposeType[] = few ? ['f32'] : ['f32', 'i32', 'u32']

  it.each(['overlapped', 'serial'] as const)(
    'reproduces the layout of Ruetsch and Fatica, %s',
    async (schedule) => {
      const group = await backend.group(4)
      const report = await transpose(group, {
        rows: 768,
        columns: 1024,
        type: 'f32',
        kernel: 'square',
        chooseTransport: () => 'direct',
        schedule,
        warmup: 0,
      })
      expect(report).toMatchObject({
        algorithm: 'transpose',
        devices: 4,
        schedule,
        shape: { rows: 768, columns: 1024 },
        slice: [1024, 192],
        tile: [256, 192],
        kernelTile: [32, 32],
        grid: [8, 6],
        stages: 4,
        verified: true,
        maxError: 0,
        bytes: 2 * 4 * 768 * 1024,
        unit: 'GB/s',
      })
      expect(report.transports.copy + report.transports.direct).toBe(12)
    },
  )

  it.each([
    [0, 5, 2],
    [5, 0, 2],
    [1, 1, 2],
    [1, 37, 3],
    [37, 1, 3],
    [5, 3, 4],
    [3, 5, 8],
    [31, 97, 3],
    [1000, 777, 3],
  ])('moves %i × %i on %i devices exactly', async (rows, columns, devices) => {
    const group = await backend.group(devices)
    const report = await transpose(group, { rows, columns, type: 'i32', warmup: 0 })
    expect(report).toMatchObject({ verified: true, maxError: 0 })
  })

  it('is exact for any shape, device count, schedule, transport and element type', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rows: fc.nat(90),
          columns: fc.nat(90),
          devices: fc.integer({ min: 1, max: 5 }),
          peerAccess: fc.boolean(),
          transport: fc.constantFrom('auto' as const, 'copy' as const, 'scatter' as const),
          schedule: fc.constantFrom('serial' as const, 'overlapped' as const),
          type: fc.constantFrom(...types),
          kernel: fc.constantFrom(...kernels),
          seed: fc.nat(1000),
        }),
        async ({ devices: drawn, peerAccess, transport, ...options }) => {
          // Every number of receivers has a separate scattering kernel.
          const devices = few && transport === 'scatter' && drawn > 1 ? 4 : drawn
          const group = await backend.group(devices, { peerAccess })
          const report = await transpose(group, {
            ...options,
            // Groups without peer access use separate kernels.
            ...(few && !peerAccess && { kernel: 'registers' }),
            ...(transport === 'scatter' ? { chooseTransport: () => transport } : { transport }),
            warmup: 0,
            repetitions: 2,
          })
          expect(report).toMatchObject({ verified: true, maxError: 0 })
          const { copy, direct, scatter } = report.transports
          // On several GPUs, virtual devices of one may be among them, which read each other's tiles.
          const ways = [copy, direct, scatter].filter((tiles) => tiles > 0).length
          expect(ways).toBeLessThanOrEqual(transport === 'auto' && !group.software ? 2 : 1)
          if (!peerAccess) expect(direct + scatter).toBe(0)
          else if (transport === 'scatter') expect(copy + direct).toBe(0)
        },
      ),
      { numRuns: randomRuns(slow ? 10 : 15) },
    )
  })

  it.each([
    [1, 1, 2],
    [1, 37, few ? 4 : 3],
    [37, 1, few ? 4 : 3],
    [5, 3, 4],
    [33, 65, 7],
    [65, 129, 8],
    [200, 70, 8],
    few ? [300, 277, 4] : [1000, 777, 3],
  ])('scatters %i × %i on %i devices exactly', async (rows, columns, devices) => {
    const group = await backend.group(devices)
    const options = { rows, columns, type: types[0]!, transport: 'scatter', warmup: 0 } as const
    const report = await transpose(group, options)
    expect(report).toMatchObject({ verified: true, maxError: 0 })
    expect(report.transports).toMatchObject({ copy: 0, direct: 0 })
  })

  it('scatters to up to seven receivers in one dispatch, and to more in equal parts', async () => {
    const dispatches = async (devices: number) => {
      const group = await backend.group(devices)
      const kernel = await compileTranspose(group, { type: types[0]!, kernel: 'registers', scatter: true })
      const input = await allocateSharded(group, types[0]!, 64, 64)
      const output = await allocateSharded(group, types[0]!, 64, 64)
      const program = group.record(
        (recorder) => void recordTranspose(recorder, group, { kernel, input, output, transport: 'scatter' }),
      )
      const { commands } = program.plan
      for (const resource of [program, input, output, kernel]) resource.destroy()
      return commands.map((command) => {
        if (command.kind !== 'dispatch') return 0
        expect(command).toMatchObject({ after: [] })
        return new Set(command.bindings.flatMap((bound) => (bound.kind === 'storage' ? [bound.buffer] : [])))
          .size
      })
    }
    expect(await dispatches(7)).toEqual(Array(7).fill(7 + 1))
    expect(await dispatches(8)).toEqual(Array(16).fill(4 + 1))
  })

  it('scatters to the peers that it can access, and copies to the others', async () => {
    const group = await backend.group(4)
    const partly = withAccess(group, (user, owner) => user === owner || (user + owner) % 2 === 1)
    const report = await transpose(partly, {
      rows: 45,
      columns: 77,
      type: types[0]!,
      chooseTransport: () => 'scatter',
      warmup: 0,
      repetitions: 2,
    })
    expect(report).toMatchObject({ verified: true, transports: { scatter: 8, copy: 4, direct: 0 } })
  })

  it('needs access from the sender to the receiver to scatter, and from the receiver to the sender to read', async () => {
    const group = await backend.group(2)
    const oneWay = withAccess(group, (user, owner) => user <= owner)
    const kernel = await compileTranspose(group, { type: types[0]!, kernel: 'registers', scatter: true })
    const input = await allocateSharded(group, types[0]!, 8, 8)
    const output = await allocateSharded(group, types[0]!, 8, 8)
    const ways = (wanted: TileTransport) => {
      let tiles: RecordedTile[] = []
      const options = { kernel, input, output, chooseTransport: () => wanted }
      const program = group.record((recorder) => {
        tiles = recordTranspose(recorder, oneWay, options)
      })
      program.destroy()
      return Object.fromEntries(tiles.map((tile) => [`${tile.sender} to ${tile.receiver}`, tile.transport]))
    }
    expect(ways('scatter')).toMatchObject({ '0 to 1': 'scatter', '1 to 0': 'copy' })
    expect(ways('direct')).toMatchObject({ '0 to 1': 'copy', '1 to 0': 'direct' })
    const record = (transport: TileTransport) => () =>
      group.record((recorder) => void recordTranspose(recorder, oneWay, { kernel, input, output, transport }))
    for (const transport of ['scatter', 'direct'] as const)
      expect(record(transport)).toThrow('Device 1 cannot access the memory of device 0')
    for (const resource of [input, output, kernel]) resource.destroy()
  })

  it('scatters into slices that share one buffer tile by tile', async () => {
    const group = await backend.group(2)
    const kernel = await compileTranspose(group, { type: types[0]!, kernel: 'registers', scatter: true })
    const input = await allocateSharded(group, types[0]!, 20, 12)
    const both = await group.devices[0]!.allocate(types[0]!, [12, 20])
    const output = shardedFromViews(group, types[0]!, [both.block(0, 0, 6, 20), both.block(6, 0, 6, 20)])
    const source = generatedElements(types[0]!, 6)
    await writeSharded(group, input, source)
    const program = group.record(
      (recorder) => void recordTranspose(recorder, group, { kernel, input, output, transport: 'scatter' }),
    )
    expect(program.plan.commands.length).toBe(4)
    await group.queue.run(program)
    expect(await verifyTranspose(group, source, output)).toMatchObject({ verified: true })
    for (const resource of [program, input, both, kernel]) resource.destroy()
  })

  it('transposes tile by tile if a scattering dispatch cannot bind the slices', async () => {
    const group = await backend.group(2)
    const kernel = await compileTranspose(group, { type: types[0]!, kernel: 'registers', scatter: true })
    const input = await allocateSharded(group, types[0]!, 70, 66)
    const output = await allocateSharded(group, types[0]!, 66, 70)
    const source = generatedElements(types[0]!, 5)
    await writeSharded(group, input, source)
    for (const limits of [{ maxStorageBindingByteLength: 2048 }, { maxWorkgroupsPerDimension: 1 }]) {
      const program = group.record(
        (recorder) =>
          void recordTranspose(withLimits(recorder, limits), group, {
            kernel,
            input,
            output,
            transport: 'scatter',
          }),
      )
      expect(program.plan.commands.length).toBeGreaterThan(4)
      await group.queue.run(program)
      expect(await verifyTranspose(group, source, output)).toMatchObject({ verified: true })
      program.destroy()
    }
    for (const resource of [input, output, kernel]) resource.destroy()
  })

  it.each(['square', 'strips', 'registers', 'scatter'] as const)(
    'works in place on sub-matrices with the %s kernel',
    async (name) => {
      const group = await backend.group(2)
      const type = types.at(-1)!
      const kernel =
        name === 'scatter'
          ? await compileTranspose(group, { type, kernel: 'registers', scatter: true })
          : await compileTranspose(group, { type, kernel: name })
      const chooseTransport = () => (name === 'scatter' ? name : 'direct')
      const sources = await Promise.all(group.devices.map((device) => device.allocate(type, [40, 83])))
      const targets = await Promise.all(group.devices.map((device) => device.allocate(type, [50, 91])))
      const input = shardedFromViews(
        group,
        type,
        sources.map((buffer) => buffer.block(3, 5, 35, 66)),
      )
      const output = shardedFromViews(
        group,
        type,
        targets.map((buffer) => buffer.block(7, 9, 33, 70)),
      )
      const data = generatedElements(type, 7)
      await writeSharded(group, input, data)
      const program = group.record(
        (recorder) => void recordTranspose(recorder, group, { kernel, input, output, chooseTransport }),
      )
      await group.queue.run(program)
      expect(await verifyTranspose(group, data, output)).toMatchObject({ verified: true })
      const around = await group.queue.read(targets[1]!)
      for (let row = 0; row < 33; row++) around.fill(0, (7 + row) * 91 + 9, (7 + row) * 91 + 79)
      expect(around.every((value) => value === 0)).toBe(true)
      program.destroy()
      for (const buffer of [...sources, ...targets]) buffer.destroy()
      kernel.destroy()
    },
  )

  it.each([
    [70, 66, { maxWorkgroupsPerDimension: 1 }],
    [70, 66, { maxStorageBindingByteLength: 2048 }],
    [2, 3000, { maxStorageBindingByteLength: 2048 }],
    [3000, 2, { maxStorageBindingByteLength: 2048, maxWorkgroupsPerDimension: 3 }],
  ])('splits %i × %i where one dispatch would exceed %o', async (rows, columns, limits) => {
    const group = await backend.group(2)
    const kernel = await compileTranspose(group, { type: 'f32', kernel: 'registers' })
    const input = await allocateSharded(group, 'f32', rows, columns)
    const output = await allocateSharded(group, 'f32', columns, rows)
    const source = generatedElements('f32', 4)
    await writeSharded(group, input, source)
    const program = group.record(
      (recorder) => void recordTranspose(withLimits(recorder, limits), group, { kernel, input, output }),
    )
    expect(program.plan.commands.length).toBeGreaterThan(4)
    await group.queue.run(program)
    expect(await verifyTranspose(group, source, output)).toMatchObject({ verified: true })
    for (const resource of [program, input, output, kernel]) resource.destroy()
  })

  it('streams the input and the output of the caller, and keeps the payloads of quiet NaNs', async () => {
    const group = await backend.group(3)
    const bits = new Uint32Array([0x7fc00001, 0xffc00001, 0x80000000, 1, 0x7f800000, 0x3f800000])
    const values = new Float32Array(bits.buffer)
    const written = new Uint32Array(6)
    let end = 0
    const report = await transpose(group, {
      rows: 2,
      columns: 3,
      type: 'f32',
      input: (offset, into) =>
        new Uint32Array(into.buffer, into.byteOffset, into.length).set(
          bits.subarray(offset, offset + into.length),
        ),
      output: (offset, data) => {
        expect(offset).toBe(end)
        end += data.length
        written.set(new Uint32Array(data.buffer, data.byteOffset, data.length), offset)
      },
    })
    expect(report.verified).toBe(true)
    expect([...written]).toEqual([bits[0], bits[3], bits[1], bits[4], bits[2], bits[5]])
    const array = new Float32Array(6)
    await transpose(group, { rows: 2, columns: 3, type: 'f32', input: values, output: array })
    expect([...array.subarray(2, 4)]).toEqual([values[1], values[4]])
  })

  it('compares both schedules when asked', async () => {
    const group = await backend.group(2)
    const { comparison } = await transpose(group, {
      rows: 8,
      columns: 8,
      type: 'f32',
      compareSchedules: true,
    })
    expect(comparison!.serialSeconds).toBeGreaterThan(0)
    expect(comparison!.speedUp).toBeCloseTo(comparison!.serialSeconds / comparison!.overlappedSeconds)
  })

  it('finds a single wrong element', async () => {
    const group = await backend.group(2)
    const matrix = await allocateSharded(group, 'f32', 3, 4)
    const source = Float32Array.from({ length: 12 }, (_, index) => index)
    const transposed = Float32Array.from(
      { length: 12 },
      (_, index) => (index % 4) * 3 + Math.floor(index / 4),
    )
    await writeSharded(group, matrix, transposed)
    expect(await verifyTranspose(group, source, matrix)).toMatchObject({ verified: true })
    transposed[7]! += 0.5
    await writeSharded(group, matrix, transposed)
    expect(await gatherSharded(group, matrix)).toEqual(transposed)
    expect(await verifyTranspose(group, source, matrix)).toMatchObject({ verified: false, maxError: 0.5 })
    matrix.destroy()
  })

  it('says why it cannot access a peer, and names wrong shapes', async () => {
    const denied = await backend.group(2, { peerAccess: false })
    await expect(
      transpose(denied, { rows: 4, columns: 4, type: 'f32', transport: 'direct' }),
    ).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining("transport 'direct'") })
    await expect(
      transpose(denied, {
        rows: 4,
        columns: 4,
        type: types[0]!,
        transport: 'scatter',
      }),
    ).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining("transport 'scatter'") })
    await expect(
      transpose(denied, { rows: 4, columns: 4, type: 'f32', input: new Float32Array(15) }),
    ).rejects.toThrow('The input has 15 elements, but the shape needs 16.')
  })
})

it('writes to peers by default on several GPUs, and reads from them inside one adapter', () => {
  const tile = { sender: 1, receiver: 0, rows: 8, columns: 8, byteLength: 256 }
  const group = (software: boolean, ...ids: string[]) =>
    ({ software, devices: ids.map((id) => ({ info: { id } })) }) as unknown as DeviceGroup
  expect(chooseTransport(tile, group(false, 'a', 'b'))).toBe('scatter')
  expect(chooseTransport(tile, group(false, 'a', 'a', 'b'))).toBe('direct')
  expect(chooseTransport(tile, group(true, 'a', 'b'))).toBe('direct')
  const names = (of: DeviceGroup) =>
    transposeCandidates(Object.assign(of, { canAccessPeer: () => true })).map(({ name }) => name)
  const copies = ['copy']
  expect(names(group(false, 'a', 'b'))).toEqual(['scatter', 'direct', ...copies])
  expect(names(group(false, 'a', 'a'))).toEqual(['direct', 'scatter', ...copies])
})

/** The group with another `canAccessPeer`. */
function withAccess(group: DeviceGroup, access: (user: number, owner: number) => boolean): DeviceGroup {
  return new Proxy(group, {
    get(target, key) {
      if (key === 'canAccessPeer') return access
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
