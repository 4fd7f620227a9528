import { describe, expect } from 'vitest'
import type { BufferView } from '../../group/device.ts'
import {
  accumulate,
  addVectors,
  boundLength,
  halves,
  histogram,
  invertBytes,
  scale,
  state,
  workgroupSum,
} from './kernels.ts'
import { expectElements, expectGpuError, type Suite } from './suite.ts'

export function describeDispatches(suite: Suite): void {
  describe('dispatches', () => {
    suite.test(
      'find two-dimensional views by base and stride, with given and filled-in uniforms',
      async (suite) => {
        const { devices, queue } = suite.group
        const kernel = suite.use(await suite.group.compile({ wgsl: scale, label: 'scale' }))
        for (const device of devices) {
          const x = suite.use(await device.allocate('f32', [20, 37]))
          const y = suite.use(await device.allocate('f32', [30, 41]))
          const data = Float32Array.from({ length: 20 * 37 }, (_, i) => i)
          await queue.write(x, data)
          const program = suite.group.record((r) =>
            r.dispatch(kernel, {
              workgroups: [3, 2],
              args: { x: x.block(3, 5, 11, 17), y: y.block(19, 24, 11, 17), factor: 2, addend: 0.5 },
            }),
          )
          await queue.run(suite.use(program))
          const expected = new Float32Array(30 * 41)
          for (let row = 0; row < 11; row++)
            for (let column = 0; column < 17; column++)
              expected[(19 + row) * 41 + 24 + column] = 2 * ((3 + row) * 37 + 5 + column) + 0.5
          expectElements(await queue.read(y), expected)
        }
      },
    )

    suite.test('bind no element after the view', async (suite) => {
      const { devices, queue } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: boundLength, label: 'bound length' }))
      for (const device of devices) {
        const x = suite.use(await device.allocate('u32', 200))
        // At multiples of 256 bytes a binding is exactly the view.
        const views = [x.slice(0, 5), x.slice(64, 7), x.slice(128, 64)]
        const program = suite.group.record((r) => {
          for (const view of views) r.dispatch(kernel, { workgroups: 1, args: { x: view } })
        })
        await queue.run(suite.use(program))
        const expected = new Uint32Array(200)
        for (const { offset, length } of views) expected[offset] = length
        expectElements(await queue.read(x), expected)
      }
    })

    suite.test('take parameters that a run changes', async (suite) => {
      const { devices, queue } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: scale }))
      const x = suite.use(await devices[0]!.allocate('f32', 4))
      const y = suite.use(await devices[0]!.allocate('f32', 4))
      await queue.write(x, Float32Array.of(1, 2, 3, 4))
      const program = suite.group.record((r) => {
        const factor = r.parameter('factor', 'f32', 10)
        r.dispatch(kernel, { workgroups: 1, args: { x, y, factor, addend: 1 } })
      })
      suite.use(program)
      const run = async (parameters?: Record<string, number>) => {
        await queue.run(program, 1, parameters && { parameters })
        return [...(await queue.read(y))]
      }
      expect(await run()).toEqual([11, 21, 31, 41])
      expect(await run({ factor: -1 })).toEqual([0, -1, -2, -3])
      expect(await run()).toEqual([11, 21, 31, 41])
      await expectGpuError(() => run({ facto: 1 }), 'validation', 'facto', 'factor')
    })

    suite.test('of vec4 arrays need views that begin on a vector', async (suite) => {
      const { devices, queue } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: addVectors, label: 'add' }))
      const a = suite.use(await devices[0]!.allocate('f32', 100))
      const sum = suite.use(await devices[0]!.allocate('f32', 100))
      await queue.write(
        a,
        Float32Array.from({ length: 100 }, (_, i) => i),
      )
      const program = suite.group.record((r) =>
        r.dispatch(kernel, {
          workgroups: 1,
          args: { a: a.slice(4, 24), b: a.slice(72, 24), sum: sum.slice(68, 24) },
        }),
      )
      await queue.run(suite.use(program))
      const expected = new Float32Array(100)
      for (let i = 0; i < 24; i++) expected[68 + i] = 4 + i + 72 + i
      expectElements(await queue.read(sum), expected)
      const misplaced = { a: a.slice(3, 4), b: a.slice(8, 4), sum: sum.slice(0, 4) }
      await expectGpuError(
        () => suite.group.record((r) => r.dispatch(kernel, { workgroups: 1, args: misplaced })),
        'validation',
        'byte 12',
        16,
      )
    })

    suite.test('of atomics count every element once', async (suite) => {
      const { devices, queue } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: histogram }))
      const x = suite.use(await devices[0]!.allocate('u32', 1003))
      const counts = suite.use(await devices[0]!.allocate('u32', 10))
      await queue.write(
        x,
        Uint32Array.from({ length: 1003 }, (_, i) => i),
      )
      const program = suite.group.record((r) => r.dispatch(kernel, { workgroups: 16, args: { x, counts } }))
      await queue.run(suite.use(program), 3)
      expect([...(await queue.read(counts))]).toEqual([303, 303, 303, 300, 300, 300, 300, 300, 300, 300])
    })

    suite.test('keep overrides of 0 and -0 apart', async (suite) => {
      const { devices, queue } = suite.group
      const wgsl = `override zero: f32;
        @group(0) @binding(0) var<storage, read_write> bits: array<u32>;
        @compute @workgroup_size(1) fn main() { bits[0] = bitcast<u32>(zero); }`
      const bits = suite.use(await devices[0]!.allocate('u32', 1))
      for (const zero of [0, -0, 0]) {
        const kernel = suite.use(await suite.group.compile({ wgsl, constants: { zero } }))
        const program = suite.group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { bits } }))
        await queue.run(suite.use(program))
        expect([...(await queue.read(bits))]).toEqual([Object.is(zero, -0) ? 2 ** 31 : 0])
      }
    })

    suite.test('use workgroup memory, barriers and overrides', async (suite) => {
      const { devices, queue } = suite.group
      for (const constants of [undefined, { width: 8 }]) {
        const kernel = suite.use(
          await suite.group.compile({ wgsl: workgroupSum, ...(constants && { constants }) }),
        )
        const width = constants?.width ?? 32
        expect(kernel.workgroupSize).toEqual([width, 1, 1])
        const x = suite.use(await devices[0]!.allocate('u32', 64))
        const sums = suite.use(await devices[0]!.allocate('u32', 64 / width))
        await queue.write(
          x,
          Uint32Array.from({ length: 64 }, (_, i) => i * i),
        )
        await queue.run(
          suite.use(
            suite.group.record((r) => r.dispatch(kernel, { workgroups: 64 / width, args: { x, sums } })),
          ),
        )
        const expected = Array.from({ length: 64 / width }, (_, group) => {
          let sum = 0
          for (let i = 0; i < width; i++) sum += (group * width + i) ** 2
          return sum
        })
        expect([...(await queue.read(sums))]).toEqual(expected)
      }
    })

    suite.test(
      'bind structures of several types over u32 buffers, vectors as uniforms, several groups',
      async (suite) => {
        const { devices, queue } = suite.group
        const kernel = suite.use(await suite.group.compile({ wgsl: state }))
        const words = suite.use(await devices[0]!.allocate('u32', 2 + 2 * 5))
        const initial = new Uint32Array(12)
        new Float32Array(initial.buffer)[1] = 1.5
        await queue.write(words, initial)
        const args = { state: words, offset: [3, -1], limit: 5 }
        await queue.run(suite.use(suite.group.record((r) => r.dispatch(kernel, { workgroups: 2, args }))), 2)
        const result = await queue.read(words)
        expect(result[0]).toBe(16)
        expect(new Float32Array(result.buffer)[1]).toBe(6)
        expect([...new Int32Array(result.buffer, 8)]).toEqual([6, -2, 6, -2, 6, -2, 6, -2, 6, -2])
      },
    )

    suite.test('bind bytes as words, and order by the words that they touch', async (suite) => {
      const { devices, queue } = suite.group
      const [device] = devices
      const kernel = suite.use(await suite.group.compile({ wgsl: invertBytes }))
      const x = suite.use(await device!.allocate('u8', 7))
      const y = suite.use(await device!.allocate('i8', [3, 5]))
      expect([x.byteLength, y.byteLength, y.length]).toEqual([8, 16, 15])
      await queue.write(x, Uint8Array.of(0, 1, 2, 127, 128, 254, 255))
      const program = suite.group.record((r) => {
        r.dispatch(kernel, { workgroups: 1, args: { x, y: y.reshape(1, 15).slice(4, 7) } })
        r.fill(y.slice(11, 1), 5)
        r.fill(y.slice(12, 1), 6)
      })
      await queue.run(suite.use(program))
      expect([...(await queue.read(y))]).toEqual([0, 0, 0, 0, -1, -2, -3, -128, 127, 1, 0, 5, 6, 0, 0])
      if (device!.local) expect(program.plan.commands.map(({ after }) => after)).toEqual([[], [0], []])
      const refused = (view: BufferView) =>
        expectGpuError(
          () => suite.group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x, y: view } })),
          'validation',
          'multiples of 4, the size in bytes of',
        )
      await refused(y.slice(5, 4))
      await refused(y.block(0, 0, 3, 4))
    })

    suite.test('compute in f16', async (suite, context) => {
      const { devices, queue } = suite.group
      if (!devices.every(({ features }) => features.has('shader-f16')))
        context.skip('the device has no shader-f16')
      const kernel = suite.use(await suite.group.compile({ wgsl: halves }))
      const x = suite.use(await devices[0]!.allocate('f16', 7))
      const y = suite.use(await devices[0]!.allocate('f16', 9))
      // 1, 2, 3, 0.5, -1 in half precision
      await queue.write(x, Uint16Array.of(0, 0x3c00, 0x4000, 0x4200, 0x3800, 0xbc00, 0))
      const args = { x: x.slice(1, 5), y: y.slice(3, 5), factor: 2 }
      await queue.run(suite.use(suite.group.record((r) => r.dispatch(kernel, { workgroups: 1, args }))))
      expect([...(await queue.read(y))]).toEqual([0, 0, 0, 0x4000, 0x4400, 0x4600, 0x3c00, 0xc000, 0])
    })

    suite.test(
      'bind the memory of a peer where that is possible, and say so where it is not',
      async (suite, context) => {
        const { devices, queue, canAccessPeer } = {
          ...suite.group,
          devices: suite.group.devices,
          queue: suite.group.queue,
          canAccessPeer: suite.group.canAccessPeer.bind(suite.group),
        }
        if (devices.length < 2) context.skip('the group has one device')
        const kernel = suite.use(await suite.group.compile({ wgsl: accumulate }))
        const x = suite.use(await devices[1]!.allocate('u32', 100))
        const y = suite.use(await devices[0]!.allocate('u32', 100))
        await queue.write(
          x,
          Uint32Array.from({ length: 100 }, (_, i) => i),
        )
        const record = () =>
          suite.group.record((r) => r.dispatch(kernel, { workgroups: 2, args: { x, y, addend: 5 } }))
        if (!canAccessPeer(0, 1)) {
          await expectGpuError(record, 'validation', 'device 0', 'device 1')
          return
        }
        await queue.run(suite.use(record()))
        expectElements(
          await queue.read(y),
          Uint32Array.from({ length: 100 }, (_, i) => i + 5),
        )
        // Writing a peer: the command runs on device 0 and the result is on device 1.
        const back = suite.group.record((r) =>
          r.dispatch(kernel, { device: 0, workgroups: 2, args: { x: y, y: x, addend: 0 } }),
        )
        await queue.run(suite.use(back))
        expectElements(
          await queue.read(x),
          Uint32Array.from({ length: 100 }, (_, i) => 4 * i + 5),
        )
      },
    )

    suite.test('that cannot run are refused before anything runs', async (suite) => {
      const { devices } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: accumulate, label: 'accumulate' }))
      const x = suite.use(await devices[0]!.allocate('u32', 100))
      const y = suite.use(await devices[0]!.allocate('u32', 100))
      const floats = suite.use(await devices[0]!.allocate('f32', 100))
      const refuse = (args: Record<string, never>, ...parts: string[]) =>
        expectGpuError(
          () => suite.group.record((r) => r.dispatch(kernel, { workgroups: 1, args })),
          'validation',
          ...parts,
        )
      const given = (args: unknown) => args as Record<string, never>
      await refuse(given({ x, addend: 1 }), 'y', 'accumulate')
      await refuse(given({ x, y }), 'addend')
      await refuse(given({ x, y, addend: 1, added: 2 }), 'added')
      await refuse(given({ x: floats, y, addend: 1 }), 'f32', 'u32')
      await refuse(given({ x, y, addend: -1 }), '-1')
      await refuse(given({ x, y, addend: [1, 2] }), '2')
      await refuse(given({ x: y.slice(0, 10), y: y.slice(64, 10), addend: 1 }), 'read_write')
      await refuse(given({ x: y.slice(0, 10), y: y.slice(0, 10), addend: 1 }), 'read_write')
      const limit = devices[0]!.limits.maxWorkgroupsPerDimension
      await expectGpuError(
        () =>
          suite.group.record((r) =>
            r.dispatch(kernel, { workgroups: [1, limit + 1], args: { x, y, addend: 1 } }),
          ),
        'too-large',
        limit + 1,
        limit,
      )
    })
  })

  describe('compilation', () => {
    suite.test('errors have a line and a column', async (suite) => {
      const wgsl =
        '@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n@compute @workgroup_size(1)\nfn main() {\n  x[0] = nothing;\n}'
      const failure = suite.group.compile({ wgsl })
      await expect(failure).rejects.toMatchObject({
        name: 'GpuError',
        code: 'compilation',
        line: 4,
        column: 10,
      })
    })

    suite.test('happens once for equal sources', async (suite) => {
      const kernels = await Promise.all(
        [1, 2, 3].map(() => suite.group.compile({ wgsl: histogram, label: 'once' })),
      )
      const before = suite.group.live().kernels
      kernels.push(await suite.group.compile({ wgsl: histogram }))
      expect(suite.group.live().kernels).toBe(before)
      for (const kernel of kernels) kernel.destroy()
    })

    suite.test('frees a kernel with the last object and program that use its source', async (suite) => {
      const { group } = suite
      const wgsl = `${accumulate} // a source of its own`
      const before = group.live().kernels
      const [first, second] = await Promise.all([
        group.compile({ wgsl, label: 'first' }),
        group.compile({ wgsl, label: 'second' }),
      ])
      expect(group.live().kernels).toBe(before + 1)
      const x = suite.use(await group.devices[0]!.allocate('u32', 4))
      const y = suite.use(await group.devices[0]!.allocate('u32', 4))
      const program = group.record((r) => r.dispatch(first, { workgroups: 1, args: { x, y, addend: 5 } }))
      first.destroy()
      second.destroy()
      expect(group.live().kernels).toBe(before + 1)
      await group.queue.run(program)
      expect([...(await group.queue.read(y))]).toEqual([5, 5, 5, 5])
      program.destroy()
      // Over several ranks the code stays until the group's end.
      expect(group.live().kernels).toBe(group.rankCount > 1 ? before + 1 : before)
      suite.use(await group.compile({ wgsl }))
      expect(group.live().kernels).toBe(before + 1)
    })
  })
}
