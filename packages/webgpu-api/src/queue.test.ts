import { referenceBackend } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { createGPU, destroyGPU } from './create-gpu.ts'
import { expectValidation, mapMode, openedGpu, readBack, rejection, usage } from './testing-gpu.ts'

const opened = openedGpu()
const { COPY_SRC, COPY_DST, MAP_READ } = usage

describe('19.2 writeBuffer', () => {
  it('accepts any memory, counted in elements of a typed array', async () => {
    const device = await opened.device()
    const bytes = Uint8Array.from({ length: 24 }, (_, i) => i)
    const shared = new SharedArrayBuffer(24)
    new Uint8Array(shared).set(bytes)
    const words = new Uint32Array(bytes.buffer)
    const cases: [expected: number[], data: unknown, offset?: number, size?: number][] = [
      [[...words], bytes],
      [[...words], bytes.buffer],
      [[...words], shared],
      [[...words.subarray(1)], words.subarray(1)],
      [[words[2]!], words, 2, 1],
      [[words[2]!], bytes, 8, 4],
      [[words[4]!, words[5]!], new BigUint64Array(shared), 2],
      [[words[1]!], new DataView(bytes.buffer, 4), 0, 4],
      [[], words, 6],
    ]
    const detached = new ArrayBuffer(8)
    const views = [new Uint16Array(detached), new DataView(detached)]
    structuredClone(detached, { transfer: [detached] })
    for (const data of [detached, ...views]) cases.push([[], data])
    for (const [expected, data, offset, size] of cases) {
      const buffer = device.createBuffer({ size: 24, usage: COPY_DST | COPY_SRC })
      device.queue.writeBuffer(buffer, 0, data as Uint32Array<ArrayBuffer>, offset, size)
      expect([...(await readBack(device, buffer))]).toEqual([
        ...expected,
        ...Array(6 - expected.length).fill(0),
      ])
    }
    device.destroy()
  })

  it('throws for wrong ranges of the data, and reports wrong ranges of the buffer', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 24, usage: COPY_DST })
    const write =
      (...given: unknown[]) =>
      () =>
        (device.queue.writeBuffer as (...given: unknown[]) => void).apply(device.queue, [buffer, ...given])
    const data = new Uint16Array(8)
    for (const given of [
      [0, data, 9],
      [0, data, 4, 5],
      [0, data, 0, 3],
      [0, new Uint8Array(6)],
    ])
      expect(write(...given)).toThrow(expect.objectContaining({ name: 'OperationError' }))
    for (const given of [[0], [0, [1, 2]], [-1, data], [0, data, -1], [0, 'data']])
      expect(write(...given)).toThrow(TypeError)
    await expectValidation(device, undefined, write(8, data))
    await expectValidation(device, /multiple of 4/, write(2, data))
    await expectValidation(device, /out of range/, write(12, data))
    await expectValidation(device, /out of range/, write(28, data, 0, 0))
    buffer.destroy()
    await expectValidation(device, /is destroyed/, write(0, data))
    const wrong = device.createBuffer({ size: 16, usage: COPY_SRC })
    await expectValidation(device, /COPY_DST/, () => device.queue.writeBuffer(wrong, 0, data))
    const mapped = device.createBuffer({ size: 16, usage: MAP_READ | COPY_DST, mappedAtCreation: true })
    await expectValidation(device, /is mapped/, () => device.queue.writeBuffer(mapped, 0, data))
    device.destroy()
  })
})

describe('19.2 submit', () => {
  it('accepts each command buffer once', async () => {
    const device = await opened.device()
    const make = () => device.createCommandEncoder({ label: 'e' }).finish({ label: 'c' })
    const [a, b] = [make(), make()]
    expect(a.label).toBe('c')
    await expectValidation(device, undefined, () => device.queue.submit([a]))
    await expectValidation(device, /is invalid/, () => device.queue.submit([a]))
    await expectValidation(device, /in the list twice/, () => device.queue.submit([b, b]))
    // A failed submit consumes its command buffers.
    await expectValidation(device, /is invalid/, () => device.queue.submit([b]))
    await expectValidation(device, undefined, () => device.queue.submit(new Set([make()])))
    const other = await opened.device()
    await expectValidation(other, /another device/, () => other.queue.submit([make()]))
    expect(() => device.queue.submit(5 as never)).toThrow(TypeError)
    expect(() => device.queue.submit([{} as GPUCommandBuffer])).toThrow(TypeError)
    device.destroy()
    other.destroy()
  })

  it('refuses invalid commands, and runs nothing of such a submit', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 4, usage: COPY_DST | COPY_SRC })
    device.queue.writeBuffer(buffer, 0, Uint32Array.of(5))
    const good = device.createCommandEncoder()
    good.clearBuffer(buffer)
    const bad = device.createCommandEncoder()
    bad.clearBuffer(buffer, 8)
    const invalid = await expectValidation(device, /clearBuffer/, () => bad.finish())
    await expectValidation(device, /is invalid/, () => device.queue.submit([good.finish(), invalid]))
    expect([...(await readBack(device, buffer))]).toEqual([5])
    device.destroy()
  })

  it('refuses buffers that are mapped, being mapped or destroyed', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 8, usage: MAP_READ | COPY_DST })
    const commands = () => {
      const encoder = device.createCommandEncoder()
      encoder.clearBuffer(buffer)
      return [encoder.finish()]
    }
    const mapping = buffer.mapAsync(mapMode.READ)
    await expectValidation(device, /is mapped/, () => device.queue.submit(commands()))
    await mapping
    await expectValidation(device, /is mapped/, () => device.queue.submit(commands()))
    buffer.unmap()
    await expectValidation(device, undefined, () => device.queue.submit(commands()))
    // A call of mapAsync that is not valid leaves the buffer to the queue, even before its promise rejects.
    const refused = expectValidation(device, /MAP_WRITE/, () => rejection(buffer.mapAsync(mapMode.WRITE)))
    expect(buffer.mapState).toBe('pending')
    const used = expectValidation(device, undefined, () => {
      device.queue.writeBuffer(buffer, 0, Uint32Array.of(3))
      device.queue.submit(commands())
    })
    expect([await refused, buffer.mapState]).toEqual(['OperationError', 'unmapped'])
    await used
    const late = commands()
    buffer.destroy()
    await expectValidation(device, /is destroyed/, () => device.queue.submit(late))
    await expectValidation(device, undefined, commands)
    device.destroy()
  })

  it('checks what is bound, whether or not it is dispatched', async () => {
    const device = await opened.device()
    const layout = device.createBindGroupLayout({ entries: [{ binding: 0, visibility: 4, buffer: {} }] })
    const buffer = device.createBuffer({ size: 16, usage: usage.UNIFORM })
    const group = device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer } }] })
    buffer.destroy()
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setBindGroup(0, group)
    pass.end()
    const commands = await expectValidation(device, undefined, () => encoder.finish())
    await expectValidation(device, /is destroyed/, () => device.queue.submit([commands]))
    device.destroy()
  })
})

it('onSubmittedWorkDone settles after earlier mappings and earlier calls, even if the device answers all at once', async () => {
  // The reference runtime's answers, in reverse order and in the same turn of the event loop.
  const backend = referenceBackend()
  const open = backend.open.bind(backend)
  const answers: (() => void)[] = []
  backend.open = async (...given) => {
    const runtime = await open(...given)
    const openQueue = runtime.openCommandQueue!.bind(runtime)
    runtime.openCommandQueue = (...options) => {
      const queue = openQueue(...options)
      const held = (answer: Promise<void>) =>
        answer.then(() => new Promise<void>((resolve) => answers.unshift(resolve)))
      const [map, fence] = [queue.map.bind(queue), queue.fence.bind(queue)]
      queue.map = (...range) => held(map(...range))
      queue.fence = () => held(fence())
      return queue
    }
    return runtime
  }
  const gpu = await createGPU({ backends: [backend] })
  const device = await (await gpu.requestAdapter())!.requestDevice()
  const buffers = [0, 1].map(() => device.createBuffer({ size: 16, usage: MAP_READ }))
  const order: string[] = []
  const calls = [
    buffers[0]!.mapAsync(mapMode.READ).then(() => order.push('map 1')),
    device.queue.onSubmittedWorkDone().then(() => order.push('done 1')),
    buffers[1]!.mapAsync(mapMode.READ).then(() => order.push('map 2')),
    device.queue.onSubmittedWorkDone().then(() => order.push('done 2')),
    device.queue.onSubmittedWorkDone().then(() => order.push('done 3')),
  ]
  while (answers.length < calls.length) await new Promise((resolve) => setTimeout(resolve, 0))
  for (const answer of answers) answer()
  await Promise.all(calls)
  const before = (first: string, second: string) => order.indexOf(first) < order.indexOf(second)
  expect([before('map 1', 'done 1'), before('map 2', 'done 2'), before('map 1', 'done 2')]).toEqual(
    Array(3).fill(true),
  )
  expect(order.filter((name) => name.startsWith('done'))).toEqual(['done 1', 'done 2', 'done 3'])
  await destroyGPU(gpu)
})

it('onSubmittedWorkDone resolves after the work, in the order of the calls', async () => {
  const device = await opened.device()
  const order: number[] = []
  const done = [1, 2].map((n) => device.queue.onSubmittedWorkDone().then(() => order.push(n)))
  await Promise.all(done)
  expect(order).toEqual([1, 2])
  device.destroy()
})
