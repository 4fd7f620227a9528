import { describe, expect, test } from 'vitest'
import { expectGpuError, type Suite } from './suite.ts'

const numbered = (length: number, first = 1) => Uint32Array.from({ length }, (_, i) => first + i)

export function describeCommands(suite: Suite): void {
  describe('copies, fills, uploads and downloads', () => {
    test('of any length and offset, within and between devices', async () => {
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
          expect(await queue.read(target)).toEqual(expected)
        }
    })

    test('of two-dimensional blocks between leading dimensions', async () => {
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
        expect(await queue.read(target)).toEqual(expected)
      }
    })

    test('of large blocks', async () => {
      const { devices, queue } = suite.group
      const [rows, columns] = [1100, 1500]
      const source = suite.use(await devices[0]!.allocate('u32', [rows, columns]))
      const target = suite.use(await devices.at(-1)!.allocate('u32', [1200, 901]))
      await queue.write(source, numbered(rows * columns))
      const program = suite.group.record((r) =>
        r.copy(source.block(90, 333, 1000, 877), target.block(100, 11, 1000, 877)),
      )
      await queue.run(suite.use(program))
      const result = await queue.read(target)
      let wrong = 0
      for (let i = 0; i < result.length; i++) {
        const [row, column] = [Math.floor(i / 901) - 100, (i % 901) - 11]
        const inside = row >= 0 && row < 1000 && column >= 0 && column < 877
        if (result[i] !== (inside ? 1 + (row + 90) * columns + column + 333 : 0)) wrong++
      }
      expect(wrong).toBe(0)
    })

    test('of f16 at odd offsets and odd lengths', async () => {
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

    test('inside one buffer, where source and target are disjoint', async () => {
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

    test('fills convert the value to the type of the buffer', async () => {
      const [device] = suite.group.devices
      const { queue } = suite.group
      const f32 = suite.use(await device!.allocate('f32', [3, 3]))
      const i32 = suite.use(await device!.allocate('i32', 5))
      const u32 = suite.use(await device!.allocate('u32', 5))
      const f16 = suite.use(await device!.allocate('f16', 7))
      const program = suite.group.record((r) => {
        r.fill(f32.block(0, 1, 3, 1), -1.5)
        r.fill(i32.slice(1, 3), -2)
        r.fill(u32, 0xfffffffe)
        r.fill(f16.slice(1, 3), 0.5)
        r.fill(f16.slice(6, 1), -2)
      })
      await queue.run(suite.use(program))
      expect([...(await queue.read(f32))]).toEqual([0, -1.5, 0, 0, -1.5, 0, 0, -1.5, 0])
      expect([...(await queue.read(i32))]).toEqual([0, -2, -2, -2, 0])
      expect([...(await queue.read(u32))]).toEqual(new Array(5).fill(0xfffffffe))
      expect([...(await queue.read(f16))]).toEqual([0, 0x3800, 0x3800, 0x3800, 0, 0, 0xc000])
    })

    test('uploads read and downloads write host memory at each repetition', async () => {
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

    test('unequal shapes and types are refused', async () => {
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
