import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { expectValidation, mapMode, openedGpu, rejection, usage } from './testing-gpu.ts'

const opened = openedGpu()
const { MAP_READ, MAP_WRITE, COPY_SRC, COPY_DST, STORAGE } = usage

describe('5.1 createBuffer', () => {
  it.each([
    [undefined, { size: 0, usage: STORAGE }],
    [undefined, { size: 3, usage: STORAGE | COPY_SRC | COPY_DST }],
    [undefined, { size: 268_435_456, usage: COPY_DST }],
    [undefined, { size: 4, usage: 0x3fc }],
    [undefined, { size: 4, usage: MAP_READ }],
    [undefined, { size: 4, usage: MAP_WRITE | COPY_SRC }],
    [/maxBufferSize/, { size: 268_435_457, usage: COPY_DST }],
    [/not a valid combination of GPUBufferUsage/, { size: 4, usage: 0 }],
    [/not a valid combination of GPUBufferUsage/, { size: 4, usage: 0x400 }],
    [/MAP_READ can only be combined with COPY_DST/, { size: 4, usage: MAP_READ | COPY_SRC }],
    [/MAP_READ can only be combined with COPY_DST/, { size: 4, usage: MAP_READ | MAP_WRITE }],
    [/MAP_WRITE can only be combined with COPY_SRC/, { size: 4, usage: MAP_WRITE | COPY_DST }],
  ] as const)('%s for %o', async (error, descriptor) => {
    const device = await opened.device()
    const buffer = await expectValidation(device, error, () => device.createBuffer(descriptor))
    expect([buffer.size, buffer.usage, buffer.label]).toEqual([descriptor.size, descriptor.usage, ''])
    device.destroy()
  })

  it('throws for arguments of wrong types', async () => {
    const device = await opened.device()
    const create = (descriptor: unknown) => () => device.createBuffer(descriptor as GPUBufferDescriptor)
    for (const descriptor of [
      undefined,
      5,
      {},
      { size: 4 },
      { usage: 1 },
      { size: -1, usage: 8 },
      { size: Number.POSITIVE_INFINITY, usage: 8 },
      { size: 2 ** 53, usage: 8 },
      { size: 4n, usage: 8 },
      { size: 4, usage: 2 ** 32 },
    ])
      expect(create(descriptor)).toThrow(TypeError)
    expect(create({ size: '4', usage: 8.9, label: 7 })()).toMatchObject({ size: 4, usage: 8, label: '7' })
    expect(create({ size: 6, usage: 8, mappedAtCreation: true })).toThrow(RangeError)
    expect(create({ size: 2 ** 53 - 8, usage: 8, mappedAtCreation: true })).toThrow(RangeError)
    device.destroy()
  })

  it('maps invalid buffers at creation too', async () => {
    const device = await opened.device()
    const buffer = await expectValidation(device, /usage/, () =>
      device.createBuffer({ size: 8, usage: 0, mappedAtCreation: true }),
    )
    expect(buffer.mapState).toBe('mapped')
    expect(buffer.getMappedRange().byteLength).toBe(8)
    await expectValidation(device, undefined, () => buffer.unmap())
    device.destroy()
  })
})

describe('5.2 mapAsync', () => {
  const cases: [problem: RegExp | undefined, flags: number, given: [number, number?, number?]][] = [
    [undefined, MAP_READ, [mapMode.READ]],
    [undefined, MAP_WRITE, [mapMode.WRITE, 8]],
    [undefined, MAP_READ, [mapMode.READ, 8, 4]],
    [undefined, MAP_READ, [mapMode.READ, 24, 0]],
    [/does not have the usage MAP_WRITE/, MAP_READ, [mapMode.WRITE]],
    [/does not have the usage MAP_READ/, COPY_DST, [mapMode.READ]],
    [/mode/, MAP_READ, [0]],
    [/mode/, MAP_READ, [3]],
    [/mode/, MAP_READ, [5]],
    [/multiple of 8/, MAP_READ, [mapMode.READ, 4]],
    [/multiple of 4/, MAP_READ, [mapMode.READ, 0, 6]],
    [/out of range/, MAP_READ, [mapMode.READ, 8, 20]],
    [/out of range/, MAP_READ, [mapMode.READ, 32]],
  ]
  it.each(cases)('%s for usage %o and arguments %o', async (problem, flags, given) => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 24, usage: flags })
    let outcome: Promise<string> | undefined
    await expectValidation(device, problem, () => {
      outcome = rejection(buffer.mapAsync(...given))
      expect(buffer.mapState).toBe('pending')
    })
    expect(await outcome).toBe(problem === undefined ? 'resolved' : 'OperationError')
    expect(buffer.mapState).toBe(problem === undefined ? 'mapped' : 'unmapped')
    device.destroy()
  })

  it('rejects while a mapping is pending or active, or after destroy', async () => {
    const device = await opened.device()
    const make = () => device.createBuffer({ size: 16, usage: MAP_READ })
    const buffer = make()
    const first = buffer.mapAsync(mapMode.READ)
    const second = await expectValidation(device, /is already being mapped/, () =>
      rejection(buffer.mapAsync(mapMode.READ)),
    )
    expect(second).toBe('OperationError')
    await first
    const third = await expectValidation(device, /is already mapped/, () =>
      rejection(buffer.mapAsync(mapMode.READ)),
    )
    expect([third, buffer.mapState]).toEqual(['OperationError', 'mapped'])
    const destroyed = make()
    destroyed.destroy()
    expect(
      await expectValidation(device, /is destroyed/, () => rejection(destroyed.mapAsync(mapMode.READ))),
    ).toBe('OperationError')
    device.destroy()
  })

  it.each(['unmap', 'destroy'] as const)('%s while it is pending aborts it', async (method) => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 16, usage: MAP_READ })
    const mapping = rejection(buffer.mapAsync(mapMode.READ))
    buffer[method]()
    expect(buffer.mapState).toBe('unmapped')
    expect(await mapping).toBe('AbortError')
    if (method === 'destroy') return
    const [first, second] = [rejection(buffer.mapAsync(mapMode.READ)), undefined]
    buffer.unmap()
    const again = rejection(buffer.mapAsync(mapMode.READ))
    expect([await first, second, await again, buffer.mapState]).toEqual([
      'AbortError',
      undefined,
      'resolved',
      'mapped',
    ])
    device.destroy()
  })

  it('rejects at once for a mapped buffer, and leaves the mapping unchanged', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 16, usage: MAP_WRITE, mappedAtCreation: true })
    const rejected = await expectValidation(device, /already mapped/, () =>
      rejection(buffer.mapAsync(mapMode.WRITE)),
    )
    expect([rejected, buffer.mapState]).toEqual(['OperationError', 'mapped'])
    const promise = expectValidation(device, /already mapped/, () =>
      rejection(buffer.mapAsync(mapMode.WRITE)),
    )
    buffer.unmap()
    expect([await promise, buffer.mapState]).toEqual(['OperationError', 'unmapped'])
    device.destroy()
  })

  it('settles when the device is destroyed, also for invalid buffers', async () => {
    const device = await opened.device()
    const buffer = await expectValidation(device, /usage/, () =>
      device.createBuffer({ size: 16, usage: 0, mappedAtCreation: true }),
    )
    const range = buffer.getMappedRange()
    device.destroy()
    expect([buffer.mapState, range.byteLength]).toEqual(['unmapped', 0])
  })

  it('rejects for arguments of wrong types', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 16, usage: MAP_READ })
    expect(await rejection(buffer.mapAsync(-1))).toBe('TypeError')
    expect(await rejection(buffer.mapAsync(1, 2 ** 60))).toBe('TypeError')
    expect(buffer.mapState).toBe('unmapped')
    device.destroy()
  })
})

describe('5.2 getMappedRange and unmap', () => {
  it('ranges are in the mapping, correctly aligned, and do not overlap', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 80, usage: MAP_READ })
    expect(() => buffer.getMappedRange()).toThrow('is not mapped')
    await buffer.mapAsync(mapMode.READ, 16, 48)
    for (const [offset, size] of [[undefined, undefined], [16, 52], [8, 8], [64, 4], [20, 4], [16, 6], [72]])
      expect(() => buffer.getMappedRange(offset, size)).toThrow(
        expect.objectContaining({ name: 'OperationError' }),
      )
    expect(() => buffer.getMappedRange(-8)).toThrow(TypeError)
    const ranges = [buffer.getMappedRange(24, 16), buffer.getMappedRange(40, 0), buffer.getMappedRange(40, 8)]
    for (const [offset, size] of [
      [24, 16],
      [32, 0],
      [16, 16],
      [32, 16],
    ])
      expect(() => buffer.getMappedRange(offset, size)).toThrow(/already/)
    expect(buffer.getMappedRange(64, 0).byteLength).toBe(0)
    expect(ranges.map(({ byteLength }) => byteLength)).toEqual([16, 0, 8])
    buffer.unmap()
    expect(ranges.map(({ byteLength }) => byteLength)).toEqual([0, 0, 0])
    expect(() => new Uint8Array(ranges[0]!)).toThrow(TypeError)
    await expectValidation(device, undefined, () => buffer.unmap())
    device.destroy()
  })

  it('a range that was transferred does no harm', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 16, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true })
    const range = buffer.getMappedRange()
    structuredClone(range, { transfer: [range] })
    buffer.unmap()
    await buffer.mapAsync(mapMode.WRITE)
    const again = buffer.getMappedRange()
    structuredClone(again, { transfer: [again] })
    buffer.unmap()
    expect(buffer.mapState).toBe('unmapped')
    device.destroy()
  })

  it('destroy ends every use, any number of times', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 16, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true })
    buffer.destroy()
    await expectValidation(device, undefined, () => buffer.destroy())
    expect(buffer.mapState).toBe('unmapped')
    expect(() => buffer.getMappedRange()).toThrow(/not mapped/)
    device.destroy()
  })
})

/** Runs the garbage collector, and the tasks that it queues. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  for (let turn = 0; turn < 3; turn++) {
    gc()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

it.each([64, 65_536])(
  'mapped ranges of %d bytes outlive the last reference to their buffer',
  async (size) => {
    const device = await opened.device()
    const read = async () => {
      const buffer = device.createBuffer({ size, usage: MAP_READ | COPY_DST })
      device.queue.writeBuffer(buffer, 0, new Uint8Array(size).fill(7))
      await buffer.mapAsync(mapMode.READ)
      return new Uint8Array(buffer.getMappedRange())
    }
    const bytes = await read()
    await collectGarbage()
    expect([bytes.length, bytes.at(-1)]).toEqual([size, 7])
    device.destroy()
  },
)

it('a mapped buffer that nothing refers to is garbage-collected', async () => {
  const device = await opened.device()
  const map = async () => {
    const buffer = device.createBuffer({ size: 16, usage: MAP_READ })
    await buffer.mapAsync(mapMode.READ)
    buffer.getMappedRange()
    return new WeakRef(buffer)
  }
  const buffer = await map()
  for (let i = 0; i < 20 && buffer.deref() !== undefined; i++) await collectGarbage()
  expect(buffer.deref()).toBeUndefined()
  device.destroy()
})

it('the memory of a garbage-collected buffer is freed', async () => {
  const device = await opened.device()
  // The device has 1 GiB, so without garbage collection the fifth allocation fails.
  for (let i = 0; i < 12; i++) {
    device.pushErrorScope('out-of-memory')
    device.createBuffer({ size: 2 ** 28, usage: STORAGE })
    expect(await device.popErrorScope(), `buffer ${i}`).toBeNull()
    await collectGarbage()
  }
  device.destroy()
})
