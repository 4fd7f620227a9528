import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Backend } from '../../backend/backend.ts'
import type { Handles } from '../../backend/handles.ts'
import type { LinkedRuntime, RankAdapter } from '../../backend/links.ts'
import type { Runtime } from '../../backend/runtime.ts'
import { GpuError, isGpuError } from '../../errors.ts'
import type { ByteRegion, Plan, PlanBuffer, PlanCommand, PlanPart } from '../../plan/plan.ts'
import { type SimulatedProcesses, simulateProcesses } from './simulated-processes.ts'

/** Bytes that travel: more than what a transport might hold back. */
const byteLength = 12_000
const ranks = [0, 1, 2]

/** Declares the tests; `describeLink` is what users call. */
export function describeLinkOf(name: string, backend: () => Backend, linkName: string): void {
  describe(`link ${linkName} of ${name}`, () => {
    const link = backend().links?.find((one) => one.name === linkName)
    if (link === undefined) throw new GpuError('validation', `The backend ${name} has no link ${linkName}.`)
    let simulated: SimulatedProcesses
    let adapters: readonly RankAdapter[]
    let opened: readonly Runtime<Handles, PlanPart>[] = []
    beforeEach(async () => {
      const report = await backend().adapters()
      adapters = ranks.map((rank) => ({ ...report.adapters[rank]!, rank }))
      simulated = simulateProcesses(ranks.length)
    })
    afterEach(async () => {
      for (const runtime of opened) expect(await runtime.dispose()).toEqual([])
      opened = []
    })
    const open = async <R extends Runtime<Handles, PlanPart>>(
      one: (rank: number) => Promise<R>,
    ): Promise<R[]> => {
      const runtimes = await Promise.all(ranks.map(one))
      opened = runtimes
      return runtimes
    }

    it('opens with the devices of the process, or those of all where memory is shared', async () => {
      const runtimes = await open(
        (rank) => link.open(adapters, simulated.processes[rank]!) as Promise<Runtime<Handles, PlanPart>>,
      )
      for (const [rank, { devices }] of runtimes.entries())
        expect(devices.map((device) => device.rank)).toEqual(link.plans === 'whole' ? ranks : [rank])
    })

    if (link.plans === 'parts') {
      it('carries bytes round the processes in every repetition, and starts like runs again', async () => {
        const runtimes = await open((rank) => link.open(adapters, simulated.processes[rank]!))
        const sides = await Promise.all(runtimes.map((runtime, rank) => sideOf(runtime, ring(rank), rank)))
        let turns = 0
        for (const times of [1, 5]) {
          expect(await Promise.all(sides.map(({ connect }) => connect(times)))).toEqual(ranks.map(() => true))
          for (const { seconds } of await Promise.all(sides.map(({ run }) => run(times))))
            expect(seconds).toBeGreaterThanOrEqual(0)
          turns += times
          const from = ranks.map((rank) => (((rank - turns) % ranks.length) + ranks.length) % ranks.length)
          expect(await Promise.all(sides.map(({ read }) => read()))).toEqual(from)
        }
        // A run of another length differs from the last one.
        for (const { repeat } of sides) expect(repeat(3)).toBeUndefined()
      })

      it('says which processes have no part in a plan', async () => {
        const runtimes = await open((rank) => link.open(adapters, simulated.processes[rank]!))
        const sides = await Promise.all(
          runtimes.map((runtime, rank) => sideOf(runtime, rank === 1 ? fillOf() : [], rank)),
        )
        expect(await Promise.all(sides.map(({ connect }) => connect(1)))).toEqual([false, true, false])
      })

      it('loses the devices of a process that waits when another cannot go on', async () => {
        const runtimes = await open((rank) => link.open(adapters, simulated.processes[rank]!))
        const sides = await Promise.all(runtimes.map((runtime, rank) => sideOf(runtime, ring(rank), rank)))
        await Promise.all(sides.map(({ connect }) => connect(1)))
        const waiting = sides[0]!.run(1).catch((error: unknown) => error)
        simulated.break()
        expect(isGpuError(await waiting, 'device-lost')).toBe(true)
      })
    }

    if (link.plans === 'segments')
      it('gives native code the address of memory', async () => {
        const runtimes = await open((rank) => link.open(adapters, { rank }))
        for (const runtime of runtimes) {
          const allocation = await runtime.allocate(0, byteLength, { label: 'x', zero: true })
          expect(await runtime.native?.address(allocation)).toBeDefined()
          runtime.free(allocation)
        }
      })
  })
}

const region = (buffer: number): ByteRegion => ({
  buffer,
  byteOffset: 0,
  rowByteLength: byteLength,
  rows: 1,
  rowByteStride: byteLength,
})

type Open<C> = C extends PlanPart ? Omit<C, 'index' | 'label'> : never

/** A rank sends what it has to the next one, and takes what comes in its place. */
function ring(rank: number): Open<PlanPart>[] {
  const message = { device: 0, program: 0, ordinal: 0 }
  const [next, previous] = [(rank + 1) % ranks.length, (rank + ranks.length - 1) % ranks.length]
  return [
    { ...message, kind: 'send', peer: next, region: region(0), after: [], afterPrevious: [2] },
    { ...message, kind: 'receive', peer: previous, region: region(1), after: [], afterPrevious: [2] },
    {
      kind: 'copy',
      device: 0,
      source: region(1),
      target: region(0),
      after: [0, 1],
      afterPrevious: [],
    },
  ]
}

function fillOf(): Open<PlanCommand>[] {
  const target = region(0)
  return [
    { kind: 'fill', device: 0, target, pattern: 0, patternByteLength: 4, after: [], afterPrevious: [0] },
  ]
}

/** A process's part of a program over two buffers, of which the first holds its rank. */
async function sideOf(
  runtime: LinkedRuntime<Handles, PlanPart>,
  parts: readonly Open<PlanPart>[],
  rank: number,
) {
  const allocations = await Promise.all(
    ['own', 'come'].map((label) => runtime.allocate(0, byteLength, { label, zero: true })),
  )
  const buffers = allocations.map(
    (allocation, index): PlanBuffer => ({
      kind: 'device',
      label: `b${index}`,
      device: 0,
      byteLength,
      allocation,
    }),
  )
  const commands = parts.map((part, index) => ({ ...part, index, label: `part ${index}` }))
  const plan: Plan<Handles, PlanPart> = {
    label: 'round',
    schedule: 'overlapped',
    buffers,
    kernels: [],
    commands,
    uniformBlock: new Uint8Array(0),
  }
  const executable = await runtime.instantiate(plan)
  const { buffer: _, ...extent } = region(0)
  const own = { allocation: allocations[0]!, ...extent }
  await runtime.write(own, new Uint8Array(byteLength).fill(rank))
  return {
    connect: (times: number) => runtime.connect(executable, { times }),
    run: (times: number) => runtime.run(executable, { times }),
    repeat: (times: number) => runtime.repeat(executable, { times }),
    /** What all bytes hold; throws if they differ. */
    async read() {
      const bytes = new Uint8Array(byteLength)
      await runtime.read(own, bytes)
      expect(bytes.every((byte) => byte === bytes[0])).toBe(true)
      return bytes[0]
    },
  }
}
