// Properties of a command queue on CUDA beyond its contract, which the conformance suite tests. Uses the fake
// driver.
import { setTimeout } from 'node:timers/promises'
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import {
  commandWords,
  type DeviceCommands,
  type KernelSource,
  openDeviceCommands,
  type QueueMessage,
} from '@tandem-gpu/core/backend'
import { lower, parseWgsl, reflect } from '@tandem-gpu/wgsl'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fakeCudaBackend } from './testing/fake-backend.ts'
import { configureFake } from './testing/fake-driver.ts'

const { dispatch, dispatchIndirect, copy, clear, write } = commandWords

async function opened(devices = 1) {
  const group = await openGroup({ backends: [fakeCudaBackend(devices)], devices })
  onTestFinished(async () => {
    await group.destroy()
    configureFake()
  })
  const messages: QueueMessage[] = []
  const queue = open(group, 0, messages)
  return { group, queue, messages }
}

function open(group: DeviceGroup, device: number, messages: QueueMessage[] = []): DeviceCommands {
  const onMessage = (message: QueueMessage) => messages.push(message)
  return openDeviceCommands(group.devices[device]!, { label: 'queue', flush: () => {}, onMessage })
}

const submit = (queue: DeviceCommands, words: readonly number[], data = new Uint8Array()) =>
  queue.submit([], 1, Float64Array.from(words), data)

/** Reads the bytes of a buffer through page-locked memory. */
async function bytesOf(queue: DeviceCommands, buffer: number, byteLength: number): Promise<Uint8Array> {
  const host = 1_000_000 + buffer
  queue.createBuffer(host, byteLength, 'host')
  submit(queue, [copy, buffer, 0, host, 0, byteLength])
  await queue.map(host, 0, byteLength)
  const bytes = new Uint8Array(queue.mappedRange(host, 0, byteLength)).slice()
  queue.unmap(host, false)
  queue.destroyBuffer(host)
  return bytes
}

const increment = `
@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
@compute @workgroup_size(1) fn main() { atomicAdd(&x[0], 1u); }`

function kernelSource(wgsl: string): KernelSource {
  const module = lower(parseWgsl(wgsl, { label: 'kernel' }))
  return {
    label: 'kernel',
    wgsl,
    entryPoint: 'main',
    constants: {},
    bounds: 'clamp',
    module,
    reflection: reflect(module),
  }
}

it('writes that overlap take effect in their order, few and many, short and long', async () => {
  const { queue } = await opened()
  queue.createBuffer(1, 65_536, 'device')
  const expected = new Uint8Array(65_536)
  const words: number[] = []
  const data = new Uint8Array(4 * 65_536)
  let used = 0
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  for (let step = 0; step < 400 && used < data.length - 16_384; step++) {
    const length = 4 * (1 + random(step % 20 === 0 ? 4000 : 100))
    // Half of the writes are to the first bytes, where short ones overlap.
    const at = 4 * random((step % 2 === 0 ? 65_536 - length : 512) / 4)
    for (let i = 0; i < length; i++) data[used + i] = random(256)
    words.push(write, 1, at, used, length)
    expected.set(data.subarray(used, used + length), at)
    used += length
  }
  submit(queue, words, data)
  expect(await bytesOf(queue, 1, 65_536)).toEqual(expected)
  await queue.close()
})

it('a write longer than all staging memory arrives whole', async () => {
  const { queue } = await opened()
  const byteLength = 80 * 2 ** 20
  const data = new Uint8Array(byteLength)
  const words = new Uint32Array(data.buffer)
  for (let i = 0; i < words.length; i += 1021) words[i] = i
  queue.createBuffer(1, byteLength, 'device')
  configureFake({ FAKE_CUDA_COPY_MS: 5 })
  submit(queue, [write, 1, 0, 0, byteLength], data)
  configureFake()
  expect(Buffer.compare(await bytesOf(queue, 1, byteLength), data)).toBe(0)
  await queue.close()
})

it('more launches than fit into a stream block neither other devices nor JavaScript, and all run', async () => {
  const { group, queue } = await opened(2)
  const other = open(group, 1)
  await queue.compile(1, kernelSource(increment), 'direct')
  queue.createBuffer(1, 4, 'device')
  // Slow copies fill the stream.
  queue.createBuffer(2, 64 * 1024, 'device')
  queue.createBuffer(3, 64 * 1024, 'device')
  configureFake({ FAKE_CUDA_COPY_MS: 2 })
  const count = 1500
  for (let i = 0; i < count; i++)
    submit(queue, [dispatch, 1, 1, 1, 1, 1, 0, 4, ...(i % 10 === 0 ? [copy, 2, 0, 3, 0, 65_536] : [])])
  let isComplete = false
  const bytes = bytesOf(queue, 1, 4).then((read) => {
    isComplete = true
    return read
  })
  other.createBuffer(1, 4, 'device')
  submit(other, [clear, 1, 0, 4])
  await other.fence()
  expect(isComplete).toBe(false)
  expect(new Uint32Array((await bytes).buffer)[0]).toBe(count)
  configureFake()
  await Promise.all([queue.close(), other.close()])
})

it('those who wait among many submits hear in their order, each once its own work is complete', async () => {
  const { queue } = await opened()
  const count = 100
  queue.createBuffer(1, 4, 'device')
  const heard: number[] = []
  configureFake({ FAKE_CUDA_COPY_MS: 1 })
  const waiting = Array.from({ length: count }, async (_, index) => {
    const host = 10 + index
    queue.createBuffer(host, 4, 'host')
    submit(queue, [write, 1, 0, 0, 4, copy, 1, 0, host, 0, 4], new Uint8Array(Uint32Array.of(index).buffer))
    await queue.map(host, 0, 4)
    heard.push(new Uint32Array(queue.mappedRange(host, 0, 4))[0]!)
  })
  await Promise.all(waiting)
  configureFake()
  expect(heard).toEqual([...Array(count).keys()])
  await queue.close()
})

it('objects that are destroyed with commands in flight remain until these are complete', async () => {
  const { group, queue } = await opened()
  const x = await group.devices[0]!.allocate('u32', 16_384)
  queue.adopt(1, x)
  configureFake({ FAKE_CUDA_COPY_MS: 20 })
  const data = new Uint8Array(65_536).fill(9)
  for (let round = 0; round < 5; round++) {
    const [device, host] = [10 + round, 20 + round]
    queue.createBuffer(device, 65_536, 'device')
    queue.createBuffer(host, 65_536, 'host')
    submit(
      queue,
      [write, host, 0, 0, 65_536, copy, host, 0, device, 0, 65_536, copy, device, 0, 1, 0, 65_536],
      data,
    )
    queue.destroyBuffer(device)
    queue.destroyBuffer(host)
    // Reuses the blocks that were returned.
    queue.createBuffer(30 + round, 65_536, 'host')
    queue.createBuffer(40 + round, 65_536, 'device')
    submit(queue, [clear, 40 + round, 0, 65_536])
    expect(new Uint8Array((await group.queue.read(x)).buffer)).toEqual(data)
  }
  configureFake()
  queue.destroyBuffer(1)
  await queue.close()
  x.destroy()
})

it('a buffer is zeroed, whatever used its memory before', async () => {
  const { queue } = await opened()
  const data = new Uint8Array(4096).fill(7)
  for (let buffer = 1; buffer < 20; buffer++) {
    queue.createBuffer(buffer, 4096, 'device')
    expect(await bytesOf(queue, buffer, 4096)).toEqual(new Uint8Array(4096))
    submit(queue, [write, buffer, 0, 0, 4096], data)
    queue.destroyBuffer(buffer)
    queue.createBuffer(100 + buffer, 4096, 'device')
    submit(queue, [write, 100 + buffer, 8, 0, 16], data)
    const expected = new Uint8Array(4096).fill(7, 8, 24)
    expect(await bytesOf(queue, 100 + buffer, 4096)).toEqual(expected)
    queue.destroyBuffer(100 + buffer)
  }
  await queue.close()
})

it('mapped memory that the caller has transferred elsewhere stays readable after the buffer and the group are gone', async () => {
  const { group, queue } = await opened()
  queue.createBuffer(1, 65_536, 'host')
  await queue.map(1, 0, 65_536)
  const range = queue.mappedRange(1, 0, 65_536)
  new Uint8Array(range).fill(3)
  // ES2024.
  const moved = (range as ArrayBuffer & { transfer(): ArrayBuffer }).transfer()
  queue.unmap(1, true)
  queue.destroyBuffer(1)
  await queue.close()
  await group.destroy()
  await setTimeout(10)
  expect(new Uint8Array(moved).every((byte) => byte === 3)).toBe(true)
})

it('memory that could not be page-locked cannot be mapped', async () => {
  const { queue, messages } = await opened()
  configureFake({ FAKE_FAIL: 'cuMemHostRegister:2:1' })
  queue.createBuffer(1, 65_536, 'host')
  await expect(queue.map(1, 0, 65_536)).rejects.toMatchObject({ code: 'out-of-memory' })
  expect(messages).toMatchObject([{ kind: 'out-of-memory', buffer: 1 }])
  configureFake()
  // Whoever does not wait gets an exception.
  expect(() => queue.mappedRange(1, 0, 65_536)).toThrow('has no memory')
  queue.destroyBuffer(1)
  queue.createBuffer(1, 65_536, 'host')
  await queue.map(1, 0, 65_536)
  expect(queue.mappedRange(1, 0, 65_536).byteLength).toBe(65_536)
  await queue.close()
})

it('a write to mapped memory that had to wait for room leaves the writes after it whole', async () => {
  const { queue } = await opened()
  const byteLength = 80 * 2 ** 20
  const data = new Uint8Array(byteLength).fill(5)
  queue.createBuffer(1, byteLength, 'host')
  queue.createBuffer(2, 65_536, 'device')
  submit(queue, [clear, 2, 0, 65_536, write, 1, 0, 0, byteLength, write, 2, 0, 0, 65_536], data)
  expect(await bytesOf(queue, 2, 65_536)).toEqual(new Uint8Array(65_536).fill(5))
  await queue.map(1, 0, byteLength)
  expect(Buffer.compare(new Uint8Array(queue.mappedRange(1, 0, byteLength)), data)).toBe(0)
  await queue.close()
})

it('page-locked memory that was destroyed is nobody else’s while a lost queue still copies to it', async () => {
  const { group, queue: other } = await opened()
  const lost = openDeviceCommands(group.devices[0]!, {
    label: 'lost',
    timeoutSeconds: 0.1,
    flush: () => {},
    onMessage: () => {},
  })
  lost.createBuffer(1, 65_536, 'device')
  lost.createBuffer(2, 65_536, 'host')
  submit(lost, [write, 1, 0, 0, 65_536], new Uint8Array(65_536).fill(9))
  await lost.fence()
  configureFake({ FAKE_CUDA_COPY_MS: 600 })
  submit(lost, [copy, 1, 0, 2, 0, 65_536])
  lost.destroyBuffer(2)
  await expect(lost.fence()).rejects.toMatchObject({ code: 'timeout' })
  other.createBuffer(1, 65_536, 'host')
  await other.map(1, 0, 65_536)
  await setTimeout(1000)
  expect(new Uint8Array(other.mappedRange(1, 0, 65_536))).toEqual(new Uint8Array(65_536))
  configureFake()
  await Promise.all([lost.close(), other.close()])
})

it('more workgroups than any kernel could run, read from a buffer, end with the time limit', async () => {
  const { group, queue: other } = await opened()
  const messages: QueueMessage[] = []
  const onMessage = (message: QueueMessage) => messages.push(message)
  const options = { label: 'endless', timeoutSeconds: 0.2, flush: () => {}, onMessage }
  const queue = openDeviceCommands(group.devices[0]!, options)
  await Promise.all([queue, other].map((each) => each.compile(1, kernelSource(increment), 'indirect')))
  const counts = Uint32Array.of(65_535, 65_535, 65_535)
  for (const each of [queue, other]) {
    each.createBuffer(1, 4, 'device')
    each.createBuffer(2, 12, 'device')
    submit(each, [write, 2, 0, 0, 12], new Uint8Array(counts.buffer))
  }
  submit(queue, [dispatchIndirect, 1, 2, 0, 65_535, 1, 0, 4])
  await expect(queue.fence()).rejects.toMatchObject({ code: 'timeout' })
  expect(messages).toMatchObject([{ kind: 'lost', error: { code: 'timeout' } }])
  // The stream continues, because the kernel has ended.
  submit(other, [dispatchIndirect, 1, 2, 0, 65_534, 1, 0, 4])
  expect(await bytesOf(other, 1, 4)).toEqual(new Uint8Array(4))
  await Promise.all([queue.close(), other.close()])
})

describe('a time limit counts the work that it limits, and nothing else', () => {
  /** A program on the queue's device, and a queue with a time limit in seconds. */
  async function limited(timeoutSeconds: number) {
    const { group, queue: other } = await opened()
    const kernel = await group.compile({ wgsl: increment })
    const x = await group.devices[0]!.allocate('u32', 1)
    const program = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x } }))
    await program.prepare()
    const messages: QueueMessage[] = []
    const onMessage = (message: QueueMessage) => messages.push(message)
    const options = { label: 'limited', timeoutSeconds, flush: () => {}, onMessage }
    const queue = openDeviceCommands(group.devices[0]!, options)
    for (const each of [queue, other]) {
      each.createBuffer(1, 65_536, 'device')
      each.createBuffer(2, 65_536, 'host')
    }
    await Promise.all([queue.fence(), other.fence()])
    const expectWhole = async () => {
      await queue.fence()
      expect(messages).toEqual([])
      configureFake()
      await Promise.all([queue.close(), other.close()])
      for (const one of [program, kernel, x]) one.destroy()
    }
    return { group, queue, other, program, expectWhole }
  }
  const copyToHost = [copy, 1, 0, 2, 0, 65_536]

  it('the limit of a submit, not the program that runs after it', async () => {
    const { group, queue, program, expectWhole } = await limited(1)
    configureFake({ FAKE_CUDA_COPY_MS: 50, FAKE_CUDA_BUSY_MS: 2000 })
    submit(queue, copyToHost)
    await group.queue.run(program)
    await expectWhole()
  })

  it('the limit of a submit, not the transfer after it', async () => {
    const { group, queue, expectWhole } = await limited(1)
    const long = await group.devices[0]!.allocate('u8', 256 * 2 ** 20)
    configureFake({ FAKE_CUDA_COPY_MS: 100 })
    submit(queue, copyToHost)
    await group.queue.read(long)
    await group.queue.write(long, new Uint8Array(long.length))
    await expectWhole()
    long.destroy()
  })

  it('the limit of a submit, not what another queue waits for', async () => {
    const { group, queue, other, program, expectWhole } = await limited(1)
    // More than fits into staging memory, so that the call waits for the GPU.
    const data = new Uint8Array(80 * 2 ** 20)
    other.createBuffer(3, data.length, 'device')
    configureFake({ FAKE_CUDA_COPY_MS: 300 })
    submit(queue, copyToHost)
    submit(other, [write, 3, 0, 0, data.length], data)
    await group.queue.run(program)
    await expectWhole()
  })

  it('the limit of a run, not the submits before it', async () => {
    const { group, other, program, expectWhole } = await limited(1)
    // The graph of runs with a limit: making it waits for the GPU.
    await group.queue.run(program, 1, { timeoutSeconds: 60 })
    configureFake({ FAKE_CUDA_COPY_MS: 2000 })
    submit(other, copyToHost)
    await group.queue.run(program, 1, { timeoutSeconds: 1 })
    await expectWhole()
  })
})

describe('a queue is lost, and whoever waits for it hears so, if the group’s thread', () => {
  const cases: [string, string, number[]][] = [
    ['cannot record how far the stream is', 'cuEventRecord:999:2', []],
    ['has no memory while it looks', 'cuEventQuery:-1:1', []],
    ['has no memory for a buffer', 'cuMemAllocFromPoolAsync:-1:1', [3]],
  ]
  it.each(cases)('%s', async (_, failure, buffers) => {
    const { queue, messages } = await opened()
    queue.createBuffer(1, 65_536, 'device')
    queue.createBuffer(2, 65_536, 'host')
    await queue.fence()
    configureFake({ FAKE_FAIL: failure, FAKE_CUDA_COPY_MS: 50 })
    // A size that no freed memory has.
    for (const buffer of buffers) queue.createBuffer(buffer, 3 * 2 ** 20, 'device')
    for (let round = 0; round < 2; round++) submit(queue, [copy, 1, 0, 2, 0, 65_536])
    await expect(queue.fence()).rejects.toMatchObject({
      code: expect.stringMatching(/^(driver|out-of-memory)$/),
    })
    expect(messages).toMatchObject([{ kind: 'lost' }])
    configureFake()
    await queue.close()
  })
})

describe('a kernel that does not end only affects its own queue', () => {
  const endless = `
@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
@compute @workgroup_size(1) fn main() { while (atomicLoad(&x[0]) == 0) { atomicMax(&x[0], 0u); } }`

  /** Two queues of one device with time limits in seconds; the kernel of the first queue does not end. */
  async function withEndless(limits: readonly [number, number]) {
    const { group, queue: spare } = await opened()
    const messages: QueueMessage[][] = [[], []]
    const [lost, kept] = messages.map((list, i) =>
      openDeviceCommands(group.devices[0]!, {
        label: 'limited',
        timeoutSeconds: limits[i]!,
        flush: () => {},
        onMessage: (message) => list.push(message),
      }),
    ) as [DeviceCommands, DeviceCommands]
    await lost.compile(1, kernelSource(endless), 'direct')
    await kept.compile(1, kernelSource(increment), 'direct')
    for (const each of [lost, kept]) each.createBuffer(1, 4, 'device')
    submit(lost, [dispatch, 1, 1, 1, 1, 1, 0, 4])
    const ended = expect(lost.fence()).rejects.toMatchObject({ code: 'timeout' })
    const close = async () => {
      await ended
      expect(messages[0]).toMatchObject([{ kind: 'lost', error: { code: 'timeout' } }])
      expect(messages[1]).toEqual([])
      await Promise.all([lost, kept, spare].map((each) => each.close()))
    }
    return { kept, close }
  }

  it('if others have submitted after it', async () => {
    const { kept, close } = await withEndless([2, 2])
    submit(kept, [dispatch, 1, 1, 1, 1, 1, 0, 4])
    expect([...(await bytesOf(kept, 1, 4))]).toEqual([1, 0, 0, 0])
    await close()
  })

  it('if others compile, for which the driver waits', async () => {
    const { kept, close } = await withEndless([0.3, 30])
    await kept.compile(2, kernelSource(increment.replace('1u', '5u')), 'direct')
    submit(kept, [dispatch, 2, 1, 1, 1, 1, 0, 4])
    expect([...(await bytesOf(kept, 1, 4))]).toEqual([5, 0, 0, 0])
    await close()
  })

  it('if others close, for which the driver waits', async () => {
    const { kept, close } = await withEndless([0.3, 30])
    await kept.close()
    await close()
  })
})
