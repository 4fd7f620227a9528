import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openMpi, whereInstalled } from '../../packages/backend-mpi/src/testing/launchers.ts'
import { heldSince, lineNaming } from './rank-jobs.ts'

/** Runs a script of this folder and gives its exit code and its lines of JSON. */
function prove(script: string, ...args: readonly string[]) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { encoding: 'utf8' })
  const lines = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { status, lines, stderr }
}

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  it('proves failures of ranks over memory of GPUs that all ranks map, on the fake driver', () => {
    const { status, lines, stderr } = prove(
      'rank-failures.ts',
      'fake-gpus',
      '2',
      'ipc',
      'killed,out-of-memory',
    )
    expect(lines, stderr).toMatchObject([
      { case: 'killed', transport: 'ipc', right: true, says: expect.stringMatching(/\brank 1\b/) },
      {
        case: 'out-of-memory',
        transport: 'ipc',
        right: true,
        says: expect.stringMatching(/^rank \d is refused/),
      },
      { kind: 'rank failures', cases: 2, wrong: 0 },
    ])
    expect(status).toBe(0)
  })

  it('checks the results of a soak over ranks', () => {
    const { status, lines, stderr } = prove('rank-soak.ts', '1', 'reference', '2', 'staged', '2')
    expect(lines.at(-1), stderr).toMatchObject({ jobs: 1, byTransport: { staged: 1 }, problems: [] })
    expect(status).toBe(0)
  })

  it('fails where a job does not do what it should', () => {
    const { status, lines } = prove('rank-soak.ts', '1', 'reference', '2', 'nonsense', '2')
    expect(lines.at(-1)!.problems).toHaveLength(1)
    expect(status).toBe(1)
  })
})

it('takes no line for the name of a rank in which it speaks itself', () => {
  const own =
    'rank 1 is process 7\nrank 1 is in the middle of a run\nrank 1: all results are right\nrank 11 is lost'
  expect(lineNaming(1, own)).toBeUndefined()
  expect(lineNaming(1, `${own}\ntandem: rank 1 (process 7 on host) ended unexpectedly.`)).toMatch(
    /unexpectedly/,
  )
})

it('has nothing to say of GPUs where there are none', async () => {
  expect(await heldSince(undefined)).toEqual([])
})
