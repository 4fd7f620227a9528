import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DeviceBuffer } from '../group/device.ts'
import { type DeviceGroup, openGroup } from '../group/group.ts'
import { referenceBackend } from '../testing/reference-backend.ts'
import { recordIncrement } from '../testing/repeated-work.ts'
import type { Program } from './program.ts'

let group: DeviceGroup
let data: DeviceBuffer<'u32'>
let program: Program

beforeAll(async () => {
  group = await openGroup({ backends: [referenceBackend()] })
  data = await group.devices[0]!.allocate('u32', 1)
  const increment = await recordIncrement(group)
  program = group.record((r) => increment(r, [data]))
})
afterAll(() => group.destroy())

const count = async () => (await group.queue.read(data))[0]

it.each([1, 7, 20, 1003])(
  'reports the progress of %i repetitions about 20 times, and the end',
  async (times) => {
    await group.queue.write(data, new Uint32Array(1))
    const seen: number[] = []
    const result = await group.queue.run(program, times, {
      onProgress: ({ done, times: all }) => {
        expect(all).toBe(times)
        seen.push(done)
      },
    })
    expect(seen.length).toBe(Math.min(times, 20))
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(seen.at(-1)).toBe(times)
    expect(result.repetitions).toBe(times)
    expect(await count()).toBe(times)
  },
)

it('keeps its place among other calls', async () => {
  await group.queue.write(data, new Uint32Array(1))
  const running = group.queue.run(program, 50, { onProgress() {} })
  const written = group.queue.write(data, new Uint32Array([1000]))
  await Promise.all([running, written])
  expect(await count()).toBe(1000)
})

it('says between which repetitions it is aborted, and starts no further part', async () => {
  await group.queue.write(data, new Uint32Array(1))
  const ending = new AbortController()
  const running = group.queue.run(program, 100, {
    signal: ending.signal,
    onProgress: ({ done }) => {
      if (done === 15) ending.abort(new Error('enough'))
    },
  })
  await expect(running).rejects.toMatchObject({
    code: 'aborted',
    message: expect.stringMatching(/aborted after \d+ to \d+ of 100 repetitions/),
  })
})

it('rejects with the error that onProgress throws', async () => {
  const running = group.queue.run(program, 40, {
    onProgress() {
      throw new RangeError('no')
    },
  })
  await expect(running).rejects.toThrow('no')
})

it('does not block if onProgress waits for the queue, or destroys the group', async () => {
  const own = await openGroup({ backends: [referenceBackend()] })
  const buffer = await own.devices[0]!.allocate('u32', 1)
  const filling = own.record((r) => r.fill(buffer, 5))
  const read: Promise<unknown>[] = []
  const result = await own.queue.run(filling, 40, {
    async onProgress() {
      read.push(own.queue.read(buffer))
      await read.at(-1)
    },
  })
  expect(result.repetitions).toBe(40)
  expect((await Promise.all(read)).length).toBe(20)

  let destroyed: ReturnType<DeviceGroup['destroy']> | undefined
  const running = own.queue.run(filling, 40, {
    async onProgress() {
      destroyed ??= own.destroy()
      await destroyed
    },
  })
  // What is queued is carried out first.
  expect((await running).repetitions).toBe(40)
  expect((await destroyed)!.leaks).toHaveLength(2)
})
