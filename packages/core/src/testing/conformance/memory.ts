import { describe, expect } from 'vitest'
import { type ElementType, elementArray } from '../../buffers/element-type.ts'
import { expectElements, expectGpuError, type Suite } from './suite.ts'

const types = ['f32', 'i32', 'u32', 'f16', 'u8', 'i8'] as const

/** Node 20 has resizable buffers; the language version that we compile for does not name them. */
type ResizableConstructor = new (byteLength: number, options: { maxByteLength: number }) => ArrayBuffer
type ResizableBuffer = ArrayBuffer & { resize(byteLength: number): void }

/** `length` distinct elements. */
function numbered<T extends ElementType>(type: T, length: number, first = 1) {
  // A loop over arrays of one type is far faster than one over arrays of any.
  const numbers = new Float64Array(length)
  for (let i = 0; i < length; i++) numbers[i] = first + i
  const array = elementArray(type, length)
  array.set(numbers)
  return array
}

export function describeMemory(suite: Suite): void {
  describe('memory', () => {
    suite.each(types, 'of %s is zeroed and keeps what is written, at any length', async (suite, type) => {
      const { devices, queue } = suite.group
      for (const device of devices)
        for (const length of [1, 2, 3, 5, 64, 1000, 4097]) {
          const buffer = suite.use(await device.allocate(type, length))
          expectElements(await queue.read(buffer), elementArray(type, length))
          const data = numbered(type, length)
          await queue.write(buffer, data)
          expectElements(await queue.read(buffer), data)
        }
    })

    suite.each(types, 'slices of %s at any offset leave their neighbours alone', async (suite, type) => {
      const { devices, queue } = suite.group
      const buffer = suite.use(await devices[0]!.allocate(type, 33))
      const model = numbered(type, 33, 100)
      await queue.write(buffer, model)
      for (const [offset, length] of [
        [0, 1],
        [1, 1],
        [3, 2],
        [7, 3],
        [31, 2],
        [5, 22],
        [32, 1],
      ] as const) {
        const data = numbered(type, length, 1000 + offset)
        model.set(data, offset)
        await queue.write(buffer.slice(offset, length), data)
        expectElements(await queue.read(buffer), model)
        expectElements(await queue.read(buffer.slice(offset, length)), data)
      }
    })

    suite.each(types, 'blocks of a matrix of %s are written and read dense', async (suite, type) => {
      const { devices, queue } = suite.group
      const buffer = suite.use(await devices[0]!.allocate(type, [7, 9]))
      const model = numbered(type, 63)
      await queue.write(buffer, model)
      for (const [row, column, rows, columns] of [
        [0, 0, 7, 9],
        [1, 2, 3, 4],
        [2, 3, 5, 1],
        [6, 8, 1, 1],
        [0, 1, 7, 3],
      ] as const) {
        const block = buffer.block(row, column, rows, columns)
        const data = numbered(type, rows * columns, 500 + row)
        await queue.write(block, data)
        data.forEach((value, i) => {
          model[(row + Math.floor(i / columns)) * 9 + column + (i % columns)] = value
        })
        expectElements(await queue.read(block), data)
        expectElements(await queue.read(buffer), model)
      }
    })

    suite.test('reads go into an array of the caller, even if it is part of a larger one', async (suite) => {
      const { devices, queue } = suite.group
      const buffer = suite.use(await devices[0]!.allocate('f32', 5))
      await queue.write(buffer, Float32Array.of(1, 2, 3, 4, 5))
      const into = new Float32Array(9)
      const part = into.subarray(2, 7)
      expect(await queue.read(buffer, { into: part })).toBe(part)
      expect([...into]).toEqual([0, 0, 1, 2, 3, 4, 5, 0, 0])
    })

    suite.test('is read by all processes, by the one that has it, or by one that is named', async (suite) => {
      const { devices, queue, rank, rankCount } = suite.group
      expect(devices.every((device) => device.local === (device.rank === rank))).toBe(true)
      expect(devices.map((device) => device.rank)).toEqual(devices.map((device) => device.rank).toSorted())
      for (const device of devices) {
        const buffer = suite.use(await device.allocate('u32', 3))
        await queue.write(buffer, device.local ? Uint32Array.of(1, 2, device.ordinal) : undefined)
        const data = Uint32Array.of(1, 2, device.ordinal)
        expect(await queue.read(buffer, { to: 'all' })).toEqual(data)
        expect(await queue.read(buffer, { to: 'owner' })).toEqual(device.local ? data : undefined)
        for (const to of [0, rankCount - 1])
          expect(await queue.read(buffer, { to })).toEqual(to === rank ? data : undefined)
        await expectGpuError(() => queue.read(buffer, { to: rankCount }), 'validation', rankCount)
      }
    })

    suite.test(
      'writes take what an array holds at the call, whatever becomes of the array',
      async (suite) => {
        const { devices, queue } = suite.group
        const length = 70_000
        const buffer = suite.use(await devices[0]!.allocate('u32', length))
        const fates: ((data: Uint32Array<ArrayBuffer>) => void)[] = [
          (data) => data.fill(99),
          (data) => structuredClone(data.buffer, { transfer: [data.buffer] }),
          (data) => (data.buffer as ResizableBuffer).resize(8),
        ]
        for (const fate of fates) {
          const options = { maxByteLength: length * 4 }
          const data = new Uint32Array(
            new (ArrayBuffer as ResizableConstructor)(length * 4, options),
            0,
            length,
          )
          for (let i = 0; i < length; i++) data[i] = i
          const written = [queue.write(buffer, data)]
          fate(data)
          await Promise.all(written)
          expectElements(await queue.read(buffer), numbered('u32', length, 0))
          await queue.write(buffer, new Uint32Array(length))
        }
      },
    )

    suite.test('writes and reads take arrays over memory that threads share', async (suite) => {
      const { devices, queue } = suite.group
      const buffer = suite.use(await devices[0]!.allocate('f32', 5))
      const shared = new Float32Array(new SharedArrayBuffer(40), 8, 5)
      shared.set([1, 2, 3, 4, 5])
      const written = queue.write(buffer, shared)
      shared.fill(0)
      await written
      expect(await queue.read(buffer, { into: shared })).toBe(shared)
      expect([...shared]).toEqual([1, 2, 3, 4, 5])
    })

    suite.test(
      'arrays that are detached or too short are refused, when a read has arrived too',
      async (suite) => {
        const { devices, queue } = suite.group
        const buffer = suite.use(await devices[0]!.allocate('u32', 4))
        await queue.write(buffer, Uint32Array.of(1, 2, 3, 4))
        const detach = (data: Uint32Array<ArrayBuffer>) =>
          structuredClone(data.buffer, { transfer: [data.buffer] })
        const gone = new Uint32Array(4)
        detach(gone)
        await expectGpuError(() => queue.write(buffer, gone), 'validation', '0 elements')
        await expectGpuError(() => queue.read(buffer, { into: gone }), 'validation', '0 elements')
        const into = new Uint32Array(4)
        const reading = queue.read(buffer, { into })
        const moved = new Uint32Array(detach(into))
        await expectGpuError(() => reading, 'validation', '0 elements')
        expect([...moved]).toEqual([0, 0, 0, 0])
        const shrunk = new (ArrayBuffer as ResizableConstructor)(16, { maxByteLength: 16 })
        const shrinking = queue.read(buffer, { into: new Uint32Array(shrunk, 0, 4) })
        ;(shrunk as ResizableBuffer).resize(8)
        await expectGpuError(() => shrinking, 'validation', '0 elements')
      },
    )

    suite.test(
      'host buffers whose memory was transferred are refused, and may be destroyed',
      async (suite) => {
        const { devices, queue } = suite.group
        const host = suite.group.allocateHost('u32', 4)
        const buffer = suite.use(await devices[0]!.allocate('u32', 4))
        const program = suite.use(suite.group.record((r) => r.download(buffer, host)))
        await queue.run(program)
        // A backend whose memory cannot move says so here instead.
        try {
          structuredClone(host.array.buffer, { transfer: [host.array.buffer] })
        } catch (error) {
          expect((error as Error).name).toBe('DataCloneError')
        }
        if (host.array.length === 0)
          await expectGpuError(() => queue.run(program), 'validation', 'is detached', host.label)
        host.destroy()
      },
    )

    suite.test('of length zero takes part in everything', async (suite) => {
      const { devices, queue } = suite.group
      const before = suite.group.live().allocations
      const empty = suite.use(await devices[0]!.allocate('f32', 0))
      const noRows = suite.use(await devices[0]!.allocate('f32', [0, 5]))
      expect(suite.group.live().allocations).toBe(before)
      await queue.write(empty, new Float32Array(0))
      expect(await queue.read(noRows)).toEqual(new Float32Array(0))
      const program = suite.use(suite.group.record((r) => r.copy(empty, empty.slice(0, 0))))
      expect(program.plan.commands).toEqual([])
      expect((await queue.run(program, 3)).repetitions).toBe(3)
    })

    suite.test('writes, reads and runs take effect in the order of the calls', async (suite) => {
      const { devices, queue } = suite.group
      const buffer = suite.use(await devices[0]!.allocate('u32', 1000))
      const copy = suite.use(await devices.at(-1)!.allocate('u32', 1000))
      const program = suite.use(suite.group.record((r) => r.copy(buffer, copy)))
      const pending: Promise<unknown>[] = []
      const reads: Promise<Uint32Array>[] = []
      for (let i = 0; i < 20; i++) {
        pending.push(queue.write(buffer, new Uint32Array(1000).fill(i)), queue.run(program))
        reads.push(queue.read(copy))
      }
      await Promise.all(pending)
      for (const [i, data] of (await Promise.all(reads)).entries()) {
        expect(data[0]).toBe(i)
        expect(data[999]).toBe(i)
      }
    })

    suite.test('host buffers keep one array until they are destroyed', async (suite) => {
      const host = suite.use(suite.group.allocateHost('i32', 7))
      expect(host.array).toBe(host.array)
      expect(host.array).toEqual(new Int32Array(7))
      host.array[3] = 9
      host.destroy()
      expect(host.destroyed).toBe(true)
      expect(host.array.length).toBe(0)
    })

    suite.test('beyond the limits and wrong arguments are refused with the values', async (suite) => {
      const [device] = suite.group.devices
      const { queue } = suite.group
      const limit = device!.limits.maxBufferByteLength
      await expectGpuError(() => device!.allocate('f32', Math.floor(limit / 4) + 1), 'too-large', limit)
      await expectGpuError(() => device!.allocate('f32', -1), 'validation', -1)
      await expectGpuError(() => device!.allocate('f32', [3, 1.5]), 'validation', 1.5)
      const buffer = suite.use(await device!.allocate('f32', 4))
      await expectGpuError(() => queue.write(buffer, new Float32Array(5)), 'validation', 5, 4)
      await expectGpuError(
        () => queue.write(buffer, new Int32Array(4) as never),
        'validation',
        'Int32Array',
        'f32',
      )
      await expectGpuError(() => buffer.slice(2, 3), 'validation', 5, 4)
      buffer.destroy()
      await expectGpuError(() => queue.read(buffer), 'validation', 'destroyed')
    })
  })
}
