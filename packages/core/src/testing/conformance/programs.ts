import { describe, expect } from 'vitest'
import { accumulate } from './kernels.ts'
import { RandomProgram } from './random-program.ts'
import { expectElements, expectGpuError, type Suite } from './suite.ts'

export function describePrograms(suite: Suite): void {
  describe('programs', () => {
    suite.each(
      ['overlapped', 'serial'] as const,
      'ping-pong between devices, %s',
      async (suite, schedule) => {
        const { devices, queue } = suite.group
        const kernel = suite.use(await suite.group.compile({ wgsl: accumulate }))
        const length = 1000
        const pairs = await Promise.all(
          devices.map(async (device) => ({
            own: suite.use(await device.allocate('u32', length)),
            received: suite.use(await device.allocate('u32', length)),
          })),
        )
        const models = pairs.map((_, i) => Uint32Array.from({ length }, (_, j) => i * length + j))
        await Promise.all(pairs.map(({ own }, i) => queue.write(own, models[i]!)))
        const program = suite.group.record(
          (r) => {
            pairs.forEach(({ received }, i) => {
              r.copy(pairs[(i + 1) % pairs.length]!.own, received)
            })
            pairs.forEach(({ own, received }) => {
              r.dispatch(kernel, {
                workgroups: Math.ceil(length / 64),
                args: { x: received, y: own, addend: 7 },
              })
            })
          },
          { schedule },
        )
        const result = await queue.run(suite.use(program), 50)
        expect(result.repetitions).toBe(50)
        expect(result.seconds).toBeGreaterThan(0)
        for (let repetition = 0; repetition < 50; repetition++) {
          const before = models.map((model) => model.slice())
          models.forEach((model, i) => {
            const from = before[(i + 1) % models.length]!
            for (let j = 0; j < length; j++) model[j] = Math.imul(3, model[j]!) + from[j]! + 7
          })
        }
        for (const [i, { own }] of pairs.entries()) expect(await queue.read(own)).toEqual(models[i])
      },
    )

    suite.each(
      ['overlapped', 'serial'] as const,
      'of random commands give what the commands mean, %s',
      async (suite, schedule) => {
        for (let seed = 1; seed <= 12; seed++) {
          const random = await RandomProgram.create(suite.group, seed)
          const program = random.record(schedule)
          await random.reset()
          await suite.group.queue.run(program, 1 + (seed % 3))
          await random.expectResult(1 + (seed % 3), `seed ${seed}`)
          program.destroy()
          random.destroy()
        }
      },
    )

    suite.test('of many dispatches give each its own uniforms', async (suite) => {
      const { devices, queue } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: accumulate }))
      const count = 500
      const x = suite.use(await devices[0]!.allocate('u32', 1))
      const y = suite.use(await devices[0]!.allocate('u32', count))
      const program = suite.group.record((r) => {
        for (let i = 0; i < count; i++)
          r.dispatch(kernel, { workgroups: 1, args: { x, y: y.slice(i, 1), addend: i * i } })
      })
      expect(program.plan.commands.every(({ after }) => after.length === 0)).toBe(true)
      await queue.run(suite.use(program), 2)
      expectElements(
        await queue.read(y),
        Uint32Array.from({ length: count }, (_, i) => 4 * i * i),
      )
    })

    suite.test('own their scratch', async (suite) => {
      const { devices, queue } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: accumulate }))
      const y = suite.use(await devices[0]!.allocate('u32', 10))
      const before = suite.group.live().allocations
      const program = suite.group.record((r) => {
        const zeroed = r.scratch(0, 'u32', 10, { zero: true })
        const filled = r.scratch(devices[0]!, 'u32', [2, 5])
        r.fill(filled, 4)
        r.dispatch(kernel, { workgroups: 1, args: { x: filled, y: zeroed, addend: 0 } })
        r.copy(zeroed, y)
      })
      expect(suite.group.live().allocations).toBe(before)
      await program.prepare()
      expect(suite.group.live().allocations).toBe(before + (devices[0]!.local ? 2 : 0))
      await queue.run(program, 2)
      expect([...(await queue.read(y))]).toEqual(new Array(10).fill(16))
      program.destroy()
      expect(suite.group.live().allocations).toBe(before)
      await expectGpuError(() => queue.run(program), 'validation', 'destroyed')
    })

    suite.test('keep destroyed buffers alive', async (suite) => {
      const { devices, queue } = suite.group
      const source = await devices[0]!.allocate('u32', 5)
      const target = suite.use(await devices[0]!.allocate('u32', 5))
      await queue.write(source, Uint32Array.of(1, 2, 3, 4, 5))
      const program = suite.use(suite.group.record((r) => r.copy(source, target)))
      source.destroy()
      await queue.run(program)
      expect([...(await queue.read(target))]).toEqual([1, 2, 3, 4, 5])
      await expectGpuError(() => suite.group.record((r) => r.copy(source, target)), 'validation', 'destroyed')
    })

    suite.test('stop between repetitions when aborted, and the queue goes on', async (suite) => {
      const { devices, queue } = suite.group
      const kernel = suite.use(await suite.group.compile({ wgsl: accumulate }))
      const x = suite.use(await devices[0]!.allocate('u32', 1))
      const y = suite.use(await devices[0]!.allocate('u32', 1))
      const program = suite.group.record((r) =>
        r.dispatch(kernel, { workgroups: 1, args: { x, y, addend: 1 } }),
      )
      suite.use(program)
      const controller = new AbortController()
      const aborted = queue.run(program, 1_000_000_000, { signal: controller.signal })
      setTimeout(() => controller.abort(), 50)
      await expectGpuError(() => aborted, 'aborted')
      await expectGpuError(() => queue.run(program, 1, { signal: controller.signal }), 'aborted')
      await queue.write(y, Uint32Array.of(2))
      await queue.run(program)
      expect([...(await queue.read(y))]).toEqual([7])
    })

    suite.test('report a span for each dispatch when profiled', async (suite, context) => {
      const { devices, queue } = suite.group
      if (!devices.every(({ features }) => features.has('timestamps')))
        context.skip('the device has no timestamps')
      const kernel = suite.use(await suite.group.compile({ wgsl: accumulate, label: 'accumulate' }))
      const buffers = await Promise.all(devices.map((device) => device.allocate('u32', 100)))
      for (const buffer of buffers) suite.use(buffer)
      const program = suite.group.record((r) => {
        for (const device of devices) {
          const x = r.scratch(device, 'u32', 100)
          r.fill(x, 1)
          r.dispatch(kernel, { workgroups: 2, args: { x, y: buffers[device.ordinal]!, addend: 1 } })
        }
      })
      const { spans, seconds } = await queue.run(suite.use(program), 3, { profile: true })
      const dispatches = spans!.filter(({ kind }) => kind === 'dispatch')
      const local = devices.filter((device) => device.local)
      expect(dispatches.map(({ device }) => device).sort()).toEqual(local.map(({ ordinal }) => ordinal))
      expect(seconds).toBeGreaterThan(0)
      for (const span of spans!) {
        expect(program.plan.commands[span.command]).toMatchObject({ label: span.label, kind: span.kind })
        expect(span.repetition).toBe(2)
        expect(span.endSeconds).toBeGreaterThanOrEqual(span.startSeconds)
      }
      for (const span of dispatches) expect(span.label).toBe('accumulate')
      expect((await queue.run(program)).spans).toBeUndefined()
    })
  })

  describe('a group', () => {
    suite.test('reports and frees what was never destroyed', async (suite) => {
      const group = await suite.open()
      const kernel = await group.compile({ wgsl: accumulate, label: 'forgotten kernel' })
      const buffer = await group.devices[0]!.allocate('u32', 5, { label: 'forgotten buffer' })
      group.allocateHost('f32', 3, { label: 'forgotten host buffer' })
      const program = group.record((r) => r.fill(buffer, 1), { label: 'forgotten program' })
      await group.queue.run(program)
      expect(kernel.label).toBe('forgotten kernel')
      const { leaks } = await group.destroy()
      expect(leaks).toEqual([
        { kind: 'kernel', label: 'forgotten kernel' },
        { kind: 'buffer', label: 'forgotten buffer', byteLength: 20 },
        { kind: 'host-buffer', label: 'forgotten host buffer', byteLength: 12 },
        { kind: 'program', label: 'forgotten program' },
      ])
      expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
      await expectGpuError(() => group.devices[0]!.allocate('u32', 1), 'device-lost', 'destroyed')
      await expectGpuError(() => group.queue.run(program), 'device-lost', 'destroyed')
      expect((await group.lost).reason).toBe('destroyed')
    })

    suite.test('finishes pending work before it closes', async (suite) => {
      const group = await suite.open()
      const buffer = await group.devices[0]!.allocate('u32', 100_000)
      const program = group.record((r) => r.fill(buffer, 3))
      const pending = [group.queue.run(program, 5), group.queue.read(buffer)] as const
      const destroyed = group.destroy()
      expect((await pending[1])[99_999]).toBe(3)
      expect((await pending[0]).repetitions).toBe(5)
      expect((await destroyed).leaks).toHaveLength(2)
    })

    suite.test('holds devices to the portable limits when asked to', async (suite) => {
      const group = await suite.open({ portableLimits: true })
      expect(group.devices[0]!.limits.maxBufferByteLength).toBe(268_435_456)
      await expectGpuError(() => group.devices[0]!.allocate('f32', 67_108_865), 'too-large', 268_435_460)
      const wgsl = '@compute @workgroup_size(512) fn main() {}'
      await expectGpuError(() => group.compile({ wgsl }), 'too-large', 512, 256)
      expect(await group.destroy()).toEqual({ leaks: [] })
    })
  })
}
