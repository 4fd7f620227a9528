import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startTandem } from './testing/process.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const installed = spawnSync('mpirun.openmpi', ['--version']).status === 0
const mpichInstalled = spawnSync('mpirun.mpich', ['--version']).status === 0
const launcher = 'mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1'
const env = {
  ...process.env,
  FORCE_COLOR: undefined,
  TERM: 'xterm',
  OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
}
const transposing = ['transpose', '--rows', '61', '--cols', '83']

it.each([
  [{ PMI_SIZE: '4', PMI_RANK: '3' }, /started by mpiexec of MPICH \(Hydra\)/],
  [{ OMPI_COMM_WORLD_SIZE: 'x', OMPI_COMM_WORLD_RANK: '1' }, /OMPI_COMM_WORLD_SIZE is "x"/],
])(
  'says what is wrong where the variables of a launcher are left over or broken: %o',
  async (variables, said) => {
    const { exit, stderr } = await startTandem(transposing, { env: { ...env, ...variables } }).ended
    expect(exit).not.toBe(0)
    expect(stderr).toMatch(said)
  },
)

describe.skipIf(!installed)(
  `tandem under mpirun${installed ? '' : ' (skipped: mpirun.openmpi is not installed)'}`,
  () => {
    it('writes the file that one process with as many devices writes, and prints once, in plain text', async () => {
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

    it.each([
      [['scan', '--elements', '9001', '--type', 'f32', '--exclusive'], ['--output']],
      [
        ['sort', '--elements', '9001', '--type', 'f32', '--descending'],
        ['--output', '--indices'],
      ],
      [['fft', '--shape', '9x14', '--order', 'transposed'], ['--output']],
      [['histogram', '--elements', '9001', '--type', 'f32', '--bins', '17'], []],
    ])('%j has the result of one process with as many devices', async (command, files) => {
      const folder = await temporaryFolder()
      const found = await Promise.all(
        ['job', 'alone'].map(async (name) => {
          const path = (option: string) => join(folder, `${name}${option}.npy`)
          const outputs = files.flatMap((option) => [option, path(option)])
          const { exit, stdout, stderr } = await startTandem(
            [...command, ...outputs, '--json', ...(name === 'alone' ? ['--devices', '3'] : [])],
            name === 'alone' ? {} : { env, shell: `exec ${launcher} -n 3 "$@"` },
          ).ended
          expect(exit, stderr).toBe(0)
          const { devices, verified, edges, counts, outside } = JSON.parse(stdout)
          const contents = await Promise.all(files.map((option) => readFile(path(option))))
          return { devices, verified, edges, counts, outside, contents }
        }),
      )
      expect(found[0]).toMatchObject({ devices: 3, verified: true })
      expect(found[0]).toEqual(found[1])
    })

    it('doctor prints once which MPI has started it: version, interface, processes, and whether it accepts GPU memory', async () => {
      const shell = `exec ${launcher} -n 2 "$@"`
      const json = await startTandem(['doctor', '--json'], { env, shell }).ended
      const { mpi } = JSON.parse(json.stdout)
      expect(mpi).toMatchObject({
        works: true,
        family: 'Open MPI',
        version: expect.stringContaining('Open MPI'),
      })
      expect(mpi.job).toMatch(/^This process was started by mpirun of Open MPI as rank 0 of 2\.$/)
      const { transport } = JSON.parse(json.stdout).backends.find(
        (backend: { works: boolean }) => backend.works,
      )
      const refused = ['ipc', 'nccl', 'gpu-aware'].map((name) => ({
        name,
        reason: expect.stringMatching(/^The backend webgpu does not .*\.$/),
      }))
      expect(transport).toEqual({ name: 'staged', refused })
      const text = await startTandem(['doctor'], { env, shell }).ended
      expect(text.stdout.match(/^mpi .*$/gm)).toEqual([
        expect.stringMatching(/^mpi loads: Open MPI v\S+.* \(.*libmpi.*, interface of Open MPI\)$/),
      ])
      expect(text.stdout).toMatch(
        /^ {2}Transport between the processes: staged\. Why not ipc: The backend webgpu does not share memory between processes\. Why not nccl: /m,
      )
      expect(text.stdout).toMatch(
        /^ {2}This MPI .*accepts? messages from GPU memory.*gpu-aware.*\. .*through host memory \(staged\)\.$/m,
      )
    })

    it('says what is missing and where if a file is on only one host', async () => {
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
      // The text has no colours, although Open MPI gives its processes a terminal, wherever the launcher
      // writes. On a busy machine, ranks report that they wait for each other.
      expect(job.stderr.match(/^tandem: (?!rank ).*$/gm)).toEqual([
        'tandem: Rank 1: in.npy cannot be read: no such file or folder.',
      ])
    })

    it.each([
      ['rank 1 is killed', 'KILL', '1.pid'],
      ['Ctrl-C comes to the launcher', 'INT', 'launcher.pid'],
    ] as const)(
      'ends all processes, and leaves no file under its name, when %s',
      async (_, signal, target) => {
        const folder = await temporaryFolder()
        const endless = [
          'jacobi',
          '--rows',
          '65',
          '--cols',
          '65',
          '--iterations',
          '100000000',
          '--residual-every',
          '100',
        ]
        const job = startTandem([...endless, '--output', 'a.npy'], {
          env,
          cwd: folder,
          shell: `echo $$ >launcher.pid; exec ${launcher} -n 3 bash -c 'echo $$ >$OMPI_COMM_WORLD_RANK.pid; exec "$@"' bash "$@"`,
        })
        // The four files with process numbers, and the output under its temporary name: rank 0 has started to
        // compute.
        while ((await readdir(folder)).length < 5) await setTimeout(50)
        await setTimeout(1000)
        const pid = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim()
        spawnSync('kill', [`-${signal}`, await pid(target)])
        const { exit, stdout } = await job.ended
        expect(exit).not.toBe(0)
        expect(stdout).not.toContain('jacobi')
        expect(await readdir(folder)).not.toContain('a.npy')
        const alive = async () => {
          const pids = await Promise.all(['0.pid', '1.pid', '2.pid'].map(pid))
          return pids.filter((process) => spawnSync('kill', ['-0', process]).status === 0)
        }
        // The launcher may end before the processes that it has killed are gone.
        while ((await alive()).length > 0) await setTimeout(100)
      },
    )
  },
)

describe.skipIf(!mpichInstalled)(
  `tandem under mpiexec of MPICH${mpichInstalled ? '' : ' (skipped: mpirun.mpich is not installed)'}`,
  () => {
    it('only rank 0 says what Ctrl-C interrupts', async () => {
      const folder = await temporaryFolder()
      const sweeping = ['jacobi', '--rows', '65', '--cols', '65', '--iterations', '100000000']
      const job = startTandem([...sweeping, '--output', 'a.npy'], {
        env,
        cwd: folder,
        // Hydra forwards the signal to the processes and waits for them; Open MPI's launcher soon kills them.
        // Both print their status and then exit with 0. If one takes too long, it aborts the job with its status,
        // Hydra may kill the other before it prints anything, and exits with that status.
        shell: `exec mpirun.mpich -n 2 sh -c 'trap : INT; "$@"; echo "ends with $?" >&2' sh "$@"`,
      })
      // Once the sweeps are running, every process handles the signal.
      await job.says('tandem: Sweeping')
      job.kill('SIGINT')
      const { exit, stdout, stderr } = await job.ended
      const printed = [...stderr.matchAll(/ends with (\d+)$/gm)].map(([, status]) => Number(status))
      if (exit === 0) expect(printed).toEqual([130, 130])
      else expect(new Set([exit, ...printed])).toEqual(new Set([130]))
      expect(stdout).not.toContain('jacobi')
      expect(stderr.match(/^tandem: Interrupted .*$/gm)).toEqual([
        expect.stringMatching(/; nothing was written\.$/),
      ])
      expect(await readdir(folder)).not.toContain('a.npy')
    })
  },
)
