import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { openMpi, whereInstalled } from '../../packages/backend-mpi/src/testing/launchers.ts'

/** Runs a soak of one second on the reference executor; its exit code and the summary. */
function soak(transport: string) {
  const args = ['soak.ts', '1', 'reference', '2', transport, '2']
  const options = { cwd: import.meta.dirname, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  return { status, stderr, summary: JSON.parse(stdout.trim().split('\n').at(-1)!) }
}

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  it('checks the results of a soak', () => {
    const { status, summary, stderr } = soak('staged')
    expect(summary, stderr).toMatchObject({ staged: 1, problems: [] })
    expect(status).toBe(0)
  })

  it('fails if a job does not do what it should', () => {
    const { status, summary } = soak('nonsense')
    // Whether a line names the rank depends on which of the two ends first.
    expect(summary.problems[0]).toContain('it ends by itself, with 3')
    expect(status).toBe(1)
  })
})
