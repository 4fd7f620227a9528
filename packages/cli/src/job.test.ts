import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTandem } from './testing/process.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const installed = spawnSync('mpirun.openmpi', ['--version']).status === 0
const launcher = 'mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1'
const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' }
const transposing = ['transpose', '--rows', '61', '--cols', '83']

describe.skipIf(!installed)(
  `tandem under mpirun${installed ? '' : ' (skipped: mpirun.openmpi is not installed)'}`,
  () => {
    it('writes the file that one process with as many devices writes, and prints once', async () => {
      const folder = await temporaryFolder()
      const path = (name: string) => join(folder, name)
      const job = await startTandem([...transposing, '--output', path('job.npy'), '--json'], {
        env,
        shell: `exec ${launcher} -n 3 "$@"`,
      }).ended
      expect(job.exit, job.stderr).toBe(0)
      expect(JSON.parse(job.stdout)).toMatchObject({ devices: 3, verified: true, backend: 'mpi(webgpu)' })
      const alone = await startTandem([...transposing, '--output', path('alone.npy'), '--devices', '3']).ended
      expect(alone.exit, alone.stderr).toBe(0)
      expect(await readFile(path('job.npy'))).toEqual(await readFile(path('alone.npy')))
    })

    it('says what is missing and where, when a file is on one host alone', async () => {
      const folder = await temporaryFolder()
      for (const rank of [0, 1]) await mkdir(join(folder, `${rank}`))
      const made = await startTandem([...transposing, '--output', join(folder, 'in.npy')]).ended
      expect(made.exit, made.stderr).toBe(0)
      await copyFile(join(folder, 'in.npy'), join(folder, '0', 'in.npy'))
      const job = await startTandem(['transpose', '--input', 'in.npy', '--output', 'out.npy'], {
        env,
        cwd: folder,
        shell: `exec ${launcher} -n 2 bash -c 'cd $OMPI_COMM_WORLD_RANK && exec "$@"' bash "$@"`,
      }).ended
      expect(job.exit).toBe(2)
      expect(job.stdout).not.toContain('transpose')
      expect(job.stderr.match(/^tandem: .*$/gm)).toEqual([
        'tandem: Rank 1: in.npy cannot be read: no such file or folder.',
      ])
    })
  },
)
