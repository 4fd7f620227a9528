import { describe, expect, test } from 'vitest'
import { isGpuError } from '../errors.ts'
import type { DeviceGroup } from '../group/group.ts'
import { accumulate, scale } from '../testing/conformance/kernels.ts'
import { type OpenRanks, openRanks } from '../testing/open-ranks.ts'
import { expectErrors, outcomes } from '../testing/rank-outcomes.ts'

const rankCount = 3

async function withRanks(body: (ranks: OpenRanks) => Promise<void>, options = {}): Promise<void> {
  const ranks = await openRanks({ ranks: rankCount, ...options })
  await body(ranks)
  await ranks.destroy()
  for (const group of ranks.groups)
    expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
}

describe('ranks that make different calls get an error on every rank that names the first difference', () => {
  const cases: Record<string, { body: (group: DeviceGroup) => Promise<unknown>; parts: string[] }> = {
    'another order': {
      body: async ({ devices, rank }) => {
        const [a, b] = rank === 1 ? [1, 0] : [0, 1]
        await devices[a!]!.allocate('u32', 5, { label: `of ${a}` })
        await devices[b!]!.allocate('u32', 5, { label: `of ${b}` })
      },
      parts: [
        'In call 0',
        'rank 0 allocates 1 x 5 u32 on device 0',
        'rank 1 allocates 1 x 5 u32 on device 1',
      ],
    },
    'another count': {
      body: async ({ devices, queue, rank }) => {
        const buffer = await devices[0]!.allocate('u32', 5)
        if (rank === 2) await queue.read(buffer)
        await devices[1]!.allocate('u32', 6)
      },
      parts: ['In call 1', 'rank 0 allocates 1 x 6 u32', 'rank 2 reads 1 x 5 elements'],
    },
    'another shape': {
      body: ({ devices, rank }) => devices[0]!.allocate('u32', [4, rank === 1 ? 7 : 6]),
      parts: ['4 x 6', '4 x 7'],
    },
    'another view': {
      body: async ({ devices, queue, rank }) => {
        const buffer = await devices[0]!.allocate('u32', 9)
        await queue.read(buffer.slice(rank === 0 ? 1 : 0, 8))
      },
      parts: ['8 elements at 1', '8 elements at 0'],
    },
    'another parameter': {
      body: async (group) => {
        const kernel = await group.compile({ wgsl: scale })
        const program = group.record((r) => {
          const [x, y] = [r.scratch(0, 'f32', 4), r.scratch(0, 'f32', 4)]
          const factor = r.parameter('factor', 'f32', 1)
          r.dispatch(kernel, { workgroups: 1, args: { x, y, factor, addend: 0 } })
        })
        await group.queue.run(program, 1, { parameters: { factor: group.rank + 2 } })
      },
      parts: ['factor = 2', 'factor = 3'],
    },
    'another number of repetitions': {
      body: async (group) => {
        await group.queue.run(
          group.record(() => {}, { label: 'loop' }),
          group.rank === 0 ? 3 : 4,
        )
      },
      parts: ['runs "loop" 3 times', 'runs "loop" 4 times'],
    },
    'another kernel': {
      body: (group) => group.compile({ wgsl: group.rank === 0 ? scale : accumulate, label: 'work' }),
      parts: ['compiles kernel "work"'],
    },
    'another schedule, which shows at the next call with an outcome': {
      body: async (group) => {
        const program = group.record(() => {}, { schedule: group.rank === 1 ? 'serial' : 'overlapped' })
        group.allocateHost('u32', 3)
        await group.queue.run(program)
      },
      parts: ['records "program 0", overlapped', 'records "program 0", serial'],
    },
    'a call that only one makes, and which has no outcome': {
      body: async (group) => {
        if (group.rank === 1) group.allocateHost('u32', 3)
        await group.devices[0]!.allocate('u32', 1)
      },
      parts: ['In call 0', 'rank 0 allocates 1 x 1 u32', 'rank 1 allocates 3 u32 of host memory'],
    },
    'an array of a wrong length for a read on one rank alone': {
      body: async ({ devices, queue, rank }) => {
        const buffer = await devices[0]!.allocate('u32', 5)
        await queue.read(buffer, rank === 1 ? { into: new Uint32Array(4) } : {}).catch((error: Error) => {
          if (!error.message.startsWith('`into` of a read has 4 elements')) throw error
        })
        await devices[0]!.allocate('u32', 1)
      },
      parts: ['In call 1', 'rank 0 reads 1 x 5 elements', 'rank 1 allocates 1 x 1 u32'],
    },
    'a front-end error on one rank alone': {
      body: async (group) => {
        const wgsl = group.rank === 2 ? '@compute fn' : accumulate
        await group.compile({ wgsl }).catch((error: unknown) => {
          if (!isGpuError(error, 'compilation')) throw error
        })
        await group.devices[0]!.allocate('u32', 1)
      },
      parts: ['compiles kernel'],
    },
  }
  for (const [name, { body, parts }] of Object.entries(cases))
    test(name, () =>
      withRanks(async (ranks) => {
        expectErrors(await outcomes(ranks, body), 'validation', 'different calls', ...parts)
        // The group cannot be used after that.
        expectErrors(
          await outcomes(ranks, async (group) => group.devices[0]!.allocate('u32', 1)),
          'validation',
          'different calls',
        )
      }),
    )

  test('messages that one side does not record', () =>
    withRanks(async (ranks) => {
      const body = async (group: DeviceGroup) => {
        const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 8)))
        const program = group.record(
          (r) => {
            r.copy(buffers[0]!, buffers[1]!)
            r.copy(buffers[1]!, buffers[2]!)
            if (group.rank === 1) r.copy(buffers[2]!.slice(0, 4), buffers[1]!.slice(0, 4), { label: 'extra' })
          },
          { label: 'uneven' },
        )
        await group.queue.run(program)
      }
      expectErrors(
        await outcomes(ranks, body),
        'validation',
        'runs "uneven" 1 times',
        'Message 0 from rank 2 to rank 1, 16 bytes by "extra", is recorded by the receiver alone.',
      )
    }))

  test('messages of other sizes', () =>
    withRanks(async (ranks) => {
      const body = async (group: DeviceGroup) => {
        const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 8)))
        const length = group.rank === 2 ? 7 : 8
        const program = group.record((r) =>
          r.copy(buffers[0]!.slice(0, length), buffers[2]!.slice(0, length)),
        )
        await program.prepare()
      }
      expectErrors(
        await outcomes(ranks, body),
        'validation',
        'has 32 bytes',
        'and 28 bytes',
        'Message 0 from rank 0 to rank 2',
      )
    }))
})

describe('a failure on one rank is an error on every rank', () => {
  test('out of memory, after which the group can still be used', () =>
    withRanks(
      async (ranks) => {
        const body = (group: DeviceGroup) => group.devices[1]!.allocate('u32', 1000, { label: 'big' })
        expectErrors(await outcomes(ranks, body), 'out-of-memory', '"big"', '4000 bytes')
        const sizes = await ranks.each(async (group) => {
          const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 100)))
          const sum = await Promise.all(
            buffers.map(async (buffer) => (await group.queue.read(buffer)).length),
          )
          for (const buffer of buffers) buffer.destroy()
          return sum
        })
        expect(sizes).toEqual(Array.from({ length: rankCount }, () => [100, 100, 100]))
      },
      { memoryByteLength: (rank: number) => (rank === 1 ? 1000 : 1_000_000) },
    ))

  test('out of memory for scratch, when a program is run or prepared; a smaller one runs after it', () =>
    withRanks(
      async (ranks) => {
        const programOf = (group: DeviceGroup, length: number) =>
          group.record((r) => {
            const scratch = group.devices.map((device) => r.scratch(device, 'u32', length, { label: 's' }))
            r.fill(scratch[0]!, 7)
            r.copy(scratch[0]!, scratch[1]!)
            r.copy(scratch[1]!, scratch[2]!)
          })
        const large = ranks.groups.map((group) => programOf(group, 1000))
        for (const action of ['run', 'prepare'] as const)
          expectErrors(
            await outcomes(ranks, async (group) =>
              action === 'run' ? group.queue.run(large[group.rank]!) : large[group.rank]!.prepare(),
            ),
            'out-of-memory',
            '4000 bytes',
          )
        for (const program of large) program.destroy()
        await ranks.each(async (group) => {
          const program = programOf(group, 10)
          expect((await group.queue.run(program, 2)).repetitions).toBe(2)
          program.destroy()
        })
      },
      { memoryByteLength: (rank: number) => (rank === 1 ? 1000 : 1_000_000) },
    ))

  test('compilation keeps line and column on the ranks where it failed', () =>
    withRanks(async (ranks) => {
      const results = await outcomes(ranks, (group) => group.compile({ wgsl: '@compute fn\nmain() { x }' }))
      expectErrors(results, 'compilation')
      for (const result of results) expect(result).toMatchObject({ reason: { line: expect.any(Number) } })
    }))

  test('an access outside its view without messages in flight: the group can still be used', () =>
    withRanks(async (ranks) => {
      const wgsl = `@group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { x[i] = i; }`
      const bodies = await ranks.each(async (group) => {
        const kernel = await group.compile({ wgsl, label: 'wide' })
        const x = await group.devices[1]!.allocate('u32', 8)
        const program = group.record((r) =>
          r.dispatch(kernel, { workgroups: 1, args: { x: x.reshape(2, 2, 4) } }),
        )
        return { kernel, x, program }
      })
      expectErrors(
        await outcomes(ranks, (group) => group.queue.run(bodies[group.rank]!.program)),
        'validation',
        'wide',
        'outside the declared view',
      )
      await ranks.each(async (group) => {
        expect((await group.queue.read(bodies[group.rank]!.x)).length).toBe(8)
        for (const resource of Object.values(bodies[group.rank]!)) resource.destroy()
      })
    }))

  test('an access outside its view while other ranks wait for messages: the group ends', () =>
    withRanks(async (ranks) => {
      const wgsl = `@group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { x[i] = i; }`
      const body = async (group: DeviceGroup) => {
        const kernel = await group.compile({ wgsl, label: 'wide' })
        const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 8)))
        const program = group.record((r) => {
          r.dispatch(kernel, { workgroups: 1, args: { x: buffers[1]!.reshape(2, 2, 4) } })
          r.copy(buffers[1]!, buffers[0]!)
          r.copy(buffers[0]!, buffers[2]!)
        })
        await group.queue.run(program)
      }
      const results = await outcomes(ranks, body)
      expectErrors(results, ['device-lost', 'validation', 'device-lost'], 'outside the declared view')
      expect(String((results[0] as PromiseRejectedResult).reason)).toContain('rank 1')
      expectErrors(
        await outcomes(ranks, async (group) => group.devices[0]!.allocate('u32', 1)),
        'device-lost',
      )
    }))

  test('an exception of the caller on one rank, which then destroys its group', () =>
    withRanks(async (ranks) => {
      const body = async (group: DeviceGroup) => {
        await group.devices[0]!.allocate('u32', 4)
        if (group.rank === 2) {
          await group.destroy()
          throw new RangeError('a mistake of the caller')
        }
        await group.devices[1]!.allocate('u32', 4)
      }
      const results = await outcomes(ranks, body)
      expectErrors(results.slice(0, 2), 'device-lost', 'Rank 2 has left the group')
      expect(results[2]).toMatchObject({ reason: { message: 'a mistake of the caller' } })
    }))

  test('an exception while recording on only one rank: the others learn of it at the next call', () =>
    withRanks(async (ranks) => {
      const body = async (group: DeviceGroup) => {
        const buffer = await group.devices[1]!.allocate('u32', 4)
        let program = group.record(() => {}, { label: 'nothing' })
        try {
          program = group.record((r) => r.fill(buffer, group.rank === 1 ? -1 : 1), { label: 'fills' })
        } catch {
          // This rank runs the other program.
        }
        await group.queue.run(program)
      }
      expectErrors(
        await outcomes(ranks, body),
        'validation',
        'runs "fills" 1 times',
        'runs "nothing" 1 times',
      )
    }))

  test('an early exit: a rank that is killed while others wait for it', () =>
    withRanks(async (ranks) => {
      const body = async (group: DeviceGroup) => {
        const buffer = await group.devices[0]!.allocate('u32', 4)
        if (group.rank === 1) {
          ranks.simulation.kill(1)
          return
        }
        await group.queue.read(buffer)
      }
      const results = await outcomes(ranks, body)
      expectErrors([results[0]!, results[2]!], 'device-lost', 'rank 1')
      expect(await Promise.all(ranks.groups.map((group) => group.lost))).toMatchObject(
        Array.from({ length: rankCount }, () => ({
          reason: 'unknown',
          message: expect.stringContaining('killed'),
        })),
      )
    }))

  test('an abort on one rank stops all after the same repetition', () =>
    withRanks(async (ranks) => {
      const sides = await ranks.each(async (group) => {
        const kernel = await group.compile({ wgsl: accumulate })
        const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 1)))
        const program = group.record((r) => {
          for (const [i, buffer] of buffers.entries()) {
            const x = r.scratch(i, 'u32', 1)
            r.copy(buffers[(i + 1) % buffers.length]!, x)
            r.dispatch(kernel, { workgroups: 1, args: { x, y: buffer, addend: 1 } })
          }
        })
        return { kernel, buffers, program }
      })
      let controller = new AbortController()
      let repetitions = 0
      // A busy machine may take longer to begin, so the next abort comes later.
      for (let delay = 30; repetitions === 0; delay *= 2) {
        controller = new AbortController()
        const { signal } = controller
        setTimeout((aborting) => aborting.abort(), delay, controller)
        const results = await outcomes(ranks, (group) =>
          group.queue.run(sides[group.rank]!.program, 1_000_000_000, group.rank === 1 ? { signal } : {}),
        )
        expectErrors(results, 'aborted')
        const done = new Set(
          results.map((result) =>
            Number(/after (\d+) of/.exec(String((result as PromiseRejectedResult).reason))![1]),
          ),
        )
        expect(done.size).toBe(1)
        repetitions = [...done][0]!
      }
      expectErrors(
        await outcomes(ranks, (group) =>
          group.queue.run(
            sides[group.rank]!.program,
            1,
            group.rank === 1 ? { signal: controller.signal } : {},
          ),
        ),
        'aborted',
        'after 0 of 1',
      )
      // All ranks stopped after the same repetition: the values continue as if there had been no abort.
      const values = await ranks.each(async (group) => {
        const { buffers, program, kernel } = sides[group.rank]!
        const read = () => Promise.all(buffers.map(async (buffer) => (await group.queue.read(buffer))[0]!))
        const before = await read()
        await group.queue.run(program)
        const after = await read()
        for (const resource of [program, kernel, ...buffers]) resource.destroy()
        return { before, after }
      })
      for (const { before, after } of values) {
        const next = [...before]
        for (let i = 0; i < 3; i++) next[i] = (Math.imul(3, next[i]!) + next[(i + 1) % 3]! + 1) >>> 0
        expect(after).toEqual(next)
      }
    }))
})

test('a run takes as long on every rank as on the slowest, even if a rank has nothing to do', () =>
  withRanks(async (ranks) => {
    const results = await ranks.each(async (group) => {
      const buffer = await group.devices[0]!.allocate('u32', 1000)
      const program = group.record((r) => r.fill(buffer, 1))
      const result = await group.queue.run(program, 5)
      program.destroy()
      buffer.destroy()
      return result
    })
    expect(new Set(results.map(({ seconds }) => seconds)).size).toBe(1)
    expect(results[0]!.seconds).toBeGreaterThan(0)
  }))

test('the first devices in rank order are used, and ranks without one take part in calls and have no memory', async () => {
  const ranks = await openRanks({ ranks: 3, adapters: [2, 1, 1] }, { devices: 2 })
  const live = await ranks.each(async (group) => {
    expect(group.devices.map(({ rank, local }) => ({ rank, local }))).toEqual([
      { rank: 0, local: group.rank === 0 },
      { rank: 0, local: group.rank === 0 },
    ])
    const [a, b] = await Promise.all(group.devices.map((device) => device.allocate('u32', 4)))
    const host = group.allocateHost('u32', 4)
    const program = group.record((r) => {
      r.fill(a!, 6)
      r.copy(a!, b!)
      r.download(b!, host)
    })
    await group.queue.run(program)
    expect([...host.array]).toEqual([6, 6, 6, 6])
    const { allocations } = group.live()
    for (const resource of [a!, b!, host, program]) resource.destroy()
    return allocations
  })
  expect(live).toEqual([2, 0, 0])
  await ranks.destroy()
})
