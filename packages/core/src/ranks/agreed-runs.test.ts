import { describe, expect, test } from 'vitest'
import { GpuError } from '../errors.ts'
import type { DeviceGroup } from '../group/group.ts'
import type { RunOptions, RunResult } from '../group/queue.ts'
import { accumulate } from '../testing/conformance/kernels.ts'
import { type OpenRanks, openRanks } from '../testing/open-ranks.ts'
import { expectErrors, outcomes } from '../testing/rank-outcomes.ts'

async function withRanks(body: (ranks: OpenRanks) => Promise<void>): Promise<void> {
  const ranks = await openRanks({ ranks: 3 })
  await body(ranks)
  await ranks.destroy()
  for (const group of ranks.groups)
    expect(group.live()).toEqual({ allocations: 0, hostAllocations: 0, kernels: 0, executables: 0 })
}

describe('runs that begin and end without JavaScript, on all ranks or on some,', () => {
  const withRuns = (
    native: readonly number[],
    body: (ranks: OpenRanks, values: () => Promise<number[][]>, run: Run) => Promise<void>,
    exchanging = true,
  ) =>
    withRanks(async (ranks) => {
      ranks.simulation.runsAgreed = (rank) => native.includes(rank)
      const sides = await ranks.each(async (group) => {
        const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 1)))
        const kernel = await group.compile({ wgsl: accumulate })
        const program = group.record((r) => {
          for (const [i, buffer] of buffers.entries()) {
            const x = r.scratch(i, 'u32', 1)
            if (exchanging) r.copy(buffers[(i + 1) % buffers.length]!, x)
            r.dispatch(kernel, { workgroups: 1, args: { x, y: buffer, addend: 1 } })
          }
        })
        return { kernel, buffers, program }
      })
      const run: Run = (group, times, options) => group.queue.run(sides[group.rank]!.program, times, options)
      await ranks.each((group) => run(group, 1))
      const values = () =>
        ranks.each(async (group) =>
          Promise.all(sides[group.rank]!.buffers.map(async (b) => (await group.queue.read(b))[0]!)),
        )
      await body(ranks, values, run)
      for (const { kernel, buffers, program } of sides)
        for (const resource of [program, kernel, ...buffers]) resource.destroy()
    })
  type Run = (group: DeviceGroup, times: number, options?: RunOptions) => Promise<RunResult>

  test.each([[[0, 1, 2]], [[0, 2]], [[1]]])('%j, give the values and times of all others', (native) =>
    withRuns(native, async (ranks, values, run) => {
      const results = await ranks.each((group) => run(group, 5))
      expect(new Set(results.map(({ seconds }) => seconds)).size).toBe(1)
      expect(results[0]!.seconds).toBeGreaterThan(0)
      // One rank may pass a signal; then no rank begins before all ranks know.
      const { signal } = new AbortController()
      await ranks.each((group) => run(group, 2, group.rank === 1 ? { signal } : {}))
      const found = await values()
      ranks.simulation.runsAgreed = undefined
      await ranks.each((group) => run(group, 1))
      const next = (before: number[]) => {
        const after = [...before]
        for (let i = 0; i < 3; i++) after[i] = (Math.imul(3, after[i]!) + after[(i + 1) % 3]! + 1) >>> 0
        return after
      }
      let expected = [0, 0, 0]
      for (let turn = 0; turn < 8; turn++) expected = next(expected)
      expect(found).toEqual(found.map(() => expected))
      expect(await values()).toEqual(found.map(() => next(expected)))
    }),
  )

  test.each([[[0, 1, 2]], [[0, 2]], [[1]]])('%j, fail on all ranks where one fails', (native) =>
    withRuns(
      native,
      async (ranks, _, run) => {
        ranks.simulation.transformPlan = (plan, rank) => {
          if (rank === 1) throw new GpuError('driver', 'The device of rank 1 has a defect.')
          return plan
        }
        expectErrors(await outcomes(ranks, (group) => run(group, 5)), 'driver', 'has a defect')
        // The ranks exchange no messages, so the group can still be used.
        ranks.simulation.transformPlan = undefined
        await ranks.each((group) => run(group, 5))
      },
      false,
    ),
  )

  test.each([[[0, 1, 2]], [[0, 2]]])('%j, find out that a rank makes another call', (native) =>
    withRuns(native, async (ranks, _, run) => {
      expectErrors(
        await outcomes(ranks, (group) => run(group, group.rank === 1 ? 6 : 5)),
        'validation',
        '5 times',
        '6 times',
      )
    }),
  )
})
