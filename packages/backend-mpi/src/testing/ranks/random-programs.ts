// Every rank: random programs in one group, while other groups are opened, run one program, and are closed.
//   mpirun -n 4 node random-programs.ts INNER_BACKEND TRANSPORT [PROGRAMS, default 20] [SEED, default 1]
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { expect } from 'vitest'
import { type MpiOptions, mpi } from '../../mpi.ts'
import { mpiSession } from '../../session.ts'
import { innerBackend, mpiLibraries } from '../inner-backend.ts'

// Not a literal, because this package's build does not include what only core's own tests use.
const what = 'random-program'
const { RandomProgram } = (await import(`../../../../core/src/testing/conformance/${what}.ts`)) as {
  RandomProgram: {
    create(
      group: DeviceGroup,
      seed: number,
    ): Promise<{
      record(
        schedule: 'overlapped' | 'serial',
      ): { destroy(): void } & Parameters<DeviceGroup['queue']['run']>[0]
      reset(): Promise<void>
      expectResult(times: number, message: string): Promise<void>
      destroy(): void
    }>
  }
}

const [inner = 'reference', transport = 'staged', programs = '20', seed = '1'] = process.argv.slice(2)
const backend = mpi(await innerBackend(inner), {
  virtual: true,
  transport: transport as MpiOptions['transport'],
  libraries: mpiLibraries(),
})
const open = (label: string) => openGroup({ backends: [backend], virtual: true, label })
/** The number of programs in the long-lived group for each of the others. */
const programsABeside = 10

async function runOne(group: DeviceGroup, number: number): Promise<void> {
  const random = await RandomProgram.create(group, number)
  const program = random.record(number % 5 === 0 ? 'serial' : 'overlapped')
  const times = 1 + (number % 7)
  await random.reset()
  await group.queue.run(program, times)
  await random.expectResult(times, `program ${number} in group "${group.label}", ${times} times`)
  program.destroy()
  random.destroy()
}

async function runAll(): Promise<void> {
  for (let i = 0; i < Number(programs); i++) {
    await runOne(group, Number(seed) * 1_000_000 + i)
    // A job that is stopped because it takes too long has then said how far it came.
    if (group.rank === 0 && (i + 1) % 100 === 0) console.error(`${i + 1} programs`)
  }
}

async function openBeside(): Promise<number> {
  const count = Math.ceil(Number(programs) / programsABeside)
  for (let i = 0; i < count; i++) {
    const beside = await open(`beside ${i}`)
    await runOne(beside, Number(seed) * 1_000_000 + 500_000 + i)
    expect(await beside.destroy()).toEqual({ leaks: [] })
  }
  return count
}

const group = await open('long-lived')
const { rank, rankCount } = group
const [, beside] = await Promise.all([runAll(), openBeside()])
expect(group.live()).toEqual({
  allocations: 0,
  hostAllocations: 0,
  kernels: expect.any(Number),
  executables: 0,
})
expect(await group.destroy()).toEqual({ leaks: [] })
await (await mpiSession()).gather('all have destroyed their groups')
if (rank === 0)
  console.log(
    `${programs} random programs over ${rankCount} ranks are right, and ${beside} groups beside them, transport ${transport}`,
  )
