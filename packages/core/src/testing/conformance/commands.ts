import { describe, expect } from 'vitest'
import { expectElements, expectGpuError, type Suite } from './suite.ts'

function numbered(length: number, first = 1): Uint32Array<ArrayBuffer> {
  const array = new Uint32Array(length)
  for (let i = 0; i < length; i++) array[i] = first + i
  return array
}

let large: ReturnType<typeof makeLargeBlocks> | undefined

/**
 * A matrix, and what is expected after a block of it is copied into a matrix of zeros; all ranks share both
 * and change neither.
 */
function largeBlocks() {
  large ??= makeLargeBlocks()
  return large
}

function makeLargeBlocks() {
  const [rows, columns] = [1100, 1500]
  const input = numbered(rows * columns)
  const expected = new Uint32Array(1200 * 901)
  for (let row = 0; row < 1000; row++)
    expected.set(input.subarray((row + 90) * columns + 333).subarray(0, 877), (row + 100) * 901 + 11)
  return { rows, columns, input, expected }
}

export function describeCommands(suite: Suite): void {
  describe('copies, fills, uploads and downloads', () => {
    suite.test('of any length and offset, within and between devices', async (suite) => {
      const { devices, queue } = suite.group
      for (const receiver of devices)
        for (const [from, to, length] of [
          [0, 0, 100],
          [1, 3, 7],
          [99, 0, 1],
          [13, 50, 50],
        ] as const) {
          const source = suite.use(await devices[0]!.allocate('u32', 100))
          const target = suite.use(await receiver.allocate('u32', 100))
          await queue.write(source, numbered(100))
          await queue.run(
            suite.use(
              suite.group.record((r) => r.copy(source.slice(from, length), target.slice(to, length))),
            ),
          )
          const expected = new Uint32Array(100)
          expected.set(numbered(100).subarray(from, from + length), to)
          expectElements(await queue.read(target), expected)
        }
    })

    suite.test('of two-dimensional blocks between leading dimensions', async (suite) => {
      const { devices, queue } = suite.group
      for (const receiver of devices) {
        const source = suite.use(await devices[0]!.allocate('u32', [6, 11]))
        const target = suite.use(await receiver.allocate('u32', [9, 5]))
        await queue.write(source, numbered(66))
        await queue.run(
          suite.use(suite.group.record((r) => r.copy(source.block(1, 4, 4, 3), target.block(5, 1, 4, 3)))),
        )
        const expected = new Uint32Array(45)
        for (let row = 0; row < 4; row++)
          for (let column = 0; column < 3; column++)
            expected[(5 + row) * 5 + 1 + column] = 1 + (1 + row) * 11 + 4 + column
        expectElements(await queue.read(target), expected)
      }
    })

    suite.test('of large blocks', async (suite) => {
      const { devices, queue } = suite.group
      const { rows, columns, input, expected } = largeBlocks()
      const source = suite.use(await devices[0]!.allocate('u32', [rows, columns]))
      const target = suite.use(await devices.at(-1)!.allocate('u32', [1200, 901]))
      await queue.write(source, input)
      const program = suite.group.record((r) =>
        r.copy(source.block(90, 333, 1000, 877), target.block(100, 11, 1000, 877)),
      )
      await queue.run(suite.use(program))
      expectElements(await queue.read(target), expected)
    })

    suite.test('of f16 at odd offsets and odd lengths', async (suite) => {
      const { devices, queue } = suite.group
      for (const receiver of devices) {
        const source = suite.use(await devices[0]!.allocate('f16', 15))
        const target = suite.use(await receiver.allocate('f16', [3, 5]))
        await queue.write(
          source,
          Uint16Array.from({ length: 15 }, (_, i) => i + 1),
        )
        const program = suite.group.record((r) => {
          r.fill(target, 1)
          r.copy(source.slice(3, 5), target.slice(1, 5))
          r.copy(source.slice(9, 6).reshape(2, 1, 5), target.block(1, 4, 2, 1))
        })
        await queue.run(suite.use(program))
        const one = 0x3c00
        expect([...(await queue.read(target))]).toEqual([
          one,
          4,
          5,
          6,
          7,
          8,
          one,
          one,
          one,
          10,
          one,
          one,
          one,
          one,
          15,
        ])
      }
    })

    suite.test('of bytes at any offset, length and gap', async (suite) => {
      const { devices, queue } = suite.group
      for (const receiver of devices) {
        const source = suite.use(await devices[0]!.allocate('u8', [9, 7]))
        const target = suite.use(await receiver.allocate('u8', [8, 9]))
        const input = Uint8Array.from({ length: 63 }, (_, i) => i + 1)
        await queue.write(source, input)
        const program = suite.group.record((r) => {
          r.fill(target, 200)
          r.copy(source.block(1, 1, 5, 6), target.block(0, 2, 5, 6))
          r.copy(source.slice(50, 13), target.slice(54, 13))
          r.fill(target.slice(71, 1), 0)
        })
        await queue.run(suite.use(program))
        const expected = new Uint8Array(72).fill(200)
        for (let row = 0; row < 5; row++)
          expected.set(input.subarray((row + 1) * 7 + 1, (row + 2) * 7), row * 9 + 2)
        expected.set(input.subarray(50), 54)
        expected[71] = 0
        expect([...(await queue.read(target))]).toEqual([...expected])
      }
    })

    suite.test('inside one buffer, where source and target are disjoint', async (suite) => {
      const { devices, queue } = suite.group
      const buffer = suite.use(await devices[0]!.allocate('u32', [4, 6]))
      await queue.write(buffer, numbered(24))
      const program = suite.group.record((r) => {
        r.copy(buffer.block(0, 0, 4, 2), buffer.block(0, 4, 4, 2))
        r.copy(buffer.block(0, 0, 1, 6), buffer.block(3, 0, 1, 6))
      })
      await queue.run(suite.use(program))
      expect([...(await queue.read(buffer))]).toEqual([
        ...[1, 2, 3, 4, 1, 2, 7, 8, 9, 10, 7, 8, 13, 14, 15, 16, 13, 14],
        ...[1, 2, 3, 4, 1, 2],
      ])
      await expectGpuError(
        () => suite.group.record((r) => r.copy(buffer.block(0, 0, 2, 2), buffer.block(1, 1, 2, 2))),
        'validation',
        'overlap',
      )
    })

    suite.test('fills convert the value to the type of the buffer', async (suite) => {
      const [device] = suite.group.devices
      const { queue } = suite.group
      const f32 = suite.use(await device!.allocate('f32', [3, 3]))
      const i32 = suite.use(await device!.allocate('i32', 5))
      const u32 = suite.use(await device!.allocate('u32', 5))
      const f16 = suite.use(await device!.allocate('f16', 7))
      const i8 = suite.use(await device!.allocate('i8', [3, 5]))
      const program = suite.group.record((r) => {
        r.fill(f32.block(0, 1, 3, 1), -1.5)
        r.fill(i32.slice(1, 3), -2)
        r.fill(u32, 0xfffffffe)
        r.fill(f16.slice(1, 3), 0.5)
        r.fill(f16.slice(6, 1), -2)
        r.fill(i8.block(0, 1, 3, 3), -3)
        r.fill(i8.slice(13, 2), 127)
      })
      await queue.run(suite.use(program))
      expect([...(await queue.read(f32))]).toEqual([0, -1.5, 0, 0, -1.5, 0, 0, -1.5, 0])
      expect([...(await queue.read(i32))]).toEqual([0, -2, -2, -2, 0])
      expect([...(await queue.read(i8))]).toEqual([0, -3, -3, -3, 0, 0, -3, -3, -3, 0, 0, -3, -3, 127, 127])
      expect([...(await queue.read(u32))]).toEqual(new Array(5).fill(0xfffffffe))
      expect([...(await queue.read(f16))]).toEqual([0, 0x3800, 0x3800, 0x3800, 0, 0, 0xc000])
    })

    suite.test('uploads read and downloads write host memory at each repetition', async (suite) => {
      const { devices, queue } = suite.group
      const input = suite.use(suite.group.allocateHost('u32', 42))
      const output = suite.use(suite.group.allocateHost('u32', 42))
      const device = devices.at(-1)!
      const buffer = suite.use(await device.allocate('u32', [6, 7]))
      input.array.set(numbered(42))
      const program = suite.group.record((r) => {
        r.upload(input.reshape(6, 7).block(1, 1, 3, 4), buffer.block(0, 2, 3, 4))
        r.upload(input.slice(35, 7), buffer.slice(35, 7))
        r.download(buffer, output.reshape(6, 7))
      })
      suite.use(program)
      for (const addend of [0, 100]) {
        input.array.set(numbered(42, 1 + addend))
        await queue.run(program, 2)
        const expected = new Uint32Array(42)
        for (let row = 0; row < 3; row++)
          for (let column = 0; column < 4; column++)
            expected[row * 7 + column + 2] = addend + 1 + (row + 1) * 7 + column + 1
        for (let i = 35; i < 42; i++) expected[i] = addend + 1 + i
        expect(output.array).toEqual(expected)
      }
    })

    suite.test(
      'go between host memory and host memory, placed by a device or with a copy everywhere',
      async (suite) => {
        const { devices, queue } = suite.group
        const [first, last] = [devices[0]!, devices.at(-1)!]
        const everywhere = suite.use(suite.group.allocateHost('u32', 42))
        const placed = suite.use(suite.group.allocateHost('u32', 42, { device: first }))
        const other = suite.use(suite.group.allocateHost('u32', 42, { device: last.ordinal }))
        const back = suite.use(suite.group.allocateHost('u32', 42))
        const buffer = suite.use(await last.allocate('u32', 42))
        expect([placed.device, everywhere.device]).toEqual([first, undefined])
        expect(placed.array.length).toBe(first.local ? 42 : 0)
        everywhere.array.set(numbered(42))
        const program = suite.group.record((r) => {
          r.copy(everywhere, placed)
          r.copy(placed.reshape(6, 7).block(1, 2, 4, 3), other.reshape(6, 7).block(0, 1, 4, 3))
          r.copy(placed.slice(35, 7), other.slice(35, 7))
          r.copy(other, buffer)
          r.fill(buffer.slice(30, 2), 5)
          r.copy(buffer, back.slice(0, 42))
          r.copy(back.slice(0, 2), everywhere.slice(0, 2))
        })
        const expected = new Uint32Array(42)
        const reset = suite.group.record((r) => r.copy(back, other))
        for (const addend of [0, 100]) {
          back.array.fill(0)
          everywhere.array.set(numbered(42, 1 + addend))
          await queue.run(suite.use(reset))
          await queue.run(program, 1)
          for (let row = 0; row < 4; row++)
            for (let column = 0; column < 3; column++)
              expected[row * 7 + column + 1] = addend + 1 + (row + 1) * 7 + column + 2
          for (let i = 35; i < 42; i++) expected[i] = addend + 1 + i
          expected.fill(5, 30, 32)
          expect(back.array).toEqual(expected)
          expect([...everywhere.array.slice(0, 3)]).toEqual([expected[0], expected[1], addend + 3])
        }
        suite.use(program)
      },
    )

    suite.test(
      'wait at a fence for what the device recorded before, and for nothing of other devices',
      async (suite) => {
        const { devices, queue } = suite.group
        const [device, other] = [devices[0]!, devices.at(-1)!]
        const own = await Promise.all([1, 2, 3].map(() => device.allocate('u32', 4)))
        const apart = await Promise.all([1, 2].map(() => other.allocate('u32', 4)))
        for (const buffer of [...own, ...apart]) suite.use(buffer)
        const program = suite.group.record((r) => {
          r.fill(own[0]!, 1, { label: 'before 0' })
          r.fill(own[1]!, 2, { label: 'before 1' })
          r.fill(apart[0]!, 3, { label: 'apart 0' })
          r.fence(device)
          r.fence(device.ordinal)
          r.fill(own[2]!, 4, { label: 'after' })
          if (device !== other) r.fill(apart[1]!, 5, { label: 'apart 1' })
        })
        suite.use(program)
        const waits = new Map(
          program.plan.commands.map(({ label, after, afterPrevious }) => [
            label,
            [after, afterPrevious].map((list) => list.map((index) => program.plan.commands[index]!.label)),
          ]),
        )
        if (device.local) {
          const before = device === other ? ['before 0', 'before 1', 'apart 0'] : ['before 0', 'before 1']
          expect(waits.get('after')).toEqual([before, device === other ? ['after'] : ['after']])
          // What comes before a fence follows the fence of the repetition before, so all that was before that
          // one.
          for (const label of before) expect(waits.get(label)).toEqual([[], before])
        }
        if (other.local && device !== other) expect(waits.get('apart 1')).toEqual([[], ['apart 1']])
        await queue.run(program, 3)
        expect(await Promise.all([...own, ...apart].map(async (b) => (await queue.read(b))[0]))).toEqual([
          1,
          2,
          4,
          3,
          device === other ? 0 : 5,
        ])
      },
    )

    suite.test('unequal shapes and types are refused', async (suite) => {
      const [device] = suite.group.devices
      const a = suite.use(await device!.allocate('u32', [4, 6]))
      const b = suite.use(await device!.allocate('f32', [4, 6]))
      const c = suite.use(await device!.allocate('u32', [6, 4]))
      await expectGpuError(() => suite.group.record((r) => r.copy(a, c)), 'validation', '4 x 6', '6 x 4')
      await expectGpuError(() => suite.group.record((r) => r.copy(a, b)), 'validation', 'u32', 'f32')
      await expectGpuError(() => suite.group.record((r) => r.fill(a, -1)), 'validation', -1, 'u32')
    })
  })
}
