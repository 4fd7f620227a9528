import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runBundledJob } from './testing/bundled-job.ts'
import { openMpi, whereInstalled } from './testing/launchers.ts'

// To MPI and to Tandem, two network namespaces with their own host names and a link between them are two
// machines. Ranks 0 and 1 are on the first, rank 2 is on the second, and their messages go over TCP. Another
// run may have its own machines at the same time.
const names = [`tandem-a-${process.pid}`, `tandem-b-${process.pid}`] as const
const addresses = ['10.77.0.1', '10.77.0.2'] as const

const ip = (...args: string[]) => spawnSync('ip', args, { encoding: 'utf8' })
const probe = `tandem-probe-${process.pid}`
const allowed = ip('netns', 'add', probe).status === 0
ip('netns', 'del', probe)
const missing = allowed ? '' : ' (skipped: this user may not make network namespaces)'

/**
 * The factor by which a busy machine may exceed the time in which a cut is noticed. `npm run test:long`,
 * which runs these tests alone, asserts the time itself.
 */
const patience = process.env.TANDEM_LONG === '1' ? 1 : 8

/**
 * Linux informs the other end of a link up to a second later, and a launcher that starts earlier finds no
 * route.
 */
async function linkIsUp(): Promise<void> {
  const isUp = (name: string, i: number) =>
    ip('-n', name, 'link', 'show', `tandem${i}`).stdout.includes(' state UP ')
  while (!names.every(isUp)) await setTimeout(20)
}

describe.skipIf(!openMpi.installed || !allowed)(
  `${whereInstalled(openMpi)} on two machines${missing}`,
  () => {
    let folder: string

    // Each test has its own machines, because right after a cut Open MPI may find no route over a link that
    // is up again.
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tandem-machines-'))
      for (const name of names) ip('netns', 'add', name)
      ip(
        'link',
        'add',
        'tandem0',
        'netns',
        names[0],
        'type',
        'veth',
        'peer',
        'name',
        'tandem1',
        'netns',
        names[1],
      )
      for (const [i, name] of names.entries()) {
        ip('-n', name, 'address', 'add', `${addresses[i]}/24`, 'dev', `tandem${i}`)
        ip('-n', name, 'link', 'set', 'lo', 'up')
        expect(ip('-n', name, 'link', 'set', `tandem${i}`, 'up').status).toBe(0)
      }
      await linkIsUp()
      // Used instead of ssh; the first argument is the host.
      const agent = join(folder, 'agent')
      await writeFile(
        agent,
        `#!/bin/bash\nhost=$1\nshift\ncase $host in ${addresses[1]}) name=${names[1]} ;; *) name=${names[0]} ;; esac\nexec ip netns exec $name unshare --uts bash -c 'hostname '$name'; exec bash -c "$*"' bash "$@"\n`,
      )
      await chmod(agent, 0o755)
    })
    afterEach(async () => {
      for (const name of names) {
        // The launcher's daemon outlives a launcher that is killed.
        for (const process of ip('netns', 'pids', name).stdout.split(/\s+/).filter(Boolean))
          spawnSync('kill', ['-KILL', process])
        ip('netns', 'del', name)
        // MPI shares memory between ranks in files, which remain if a rank is killed.
        for (const shared of ['/dev/shm', tmpdir()])
          for (const file of await readdir(shared).catch(() => []))
            if (file.includes(`.${name}.`)) await rm(join(shared, file), { recursive: true, force: true })
      }
      await rm(folder, { recursive: true, force: true })
    })

    /**
     * With `keepalive` the launcher notices after 8 s that a machine does not answer; otherwise it waits
     * forever.
     */
    const machinesWith = (keepalive: boolean) => ({
      command: 'ip',
      name: openMpi.name,
      installed: true,
      options: [
        ...['netns', 'exec', names[0], 'unshare', '--uts', 'bash', '-c'],
        ...[`hostname ${names[0]}; exec "$@"`, 'bash', openMpi.command, ...openMpi.options],
        ...['--host', `${addresses[0]}:2,${addresses[1]}:1`],
        ...['--mca', 'plm_rsh_agent', join(folder, 'agent')],
        ...['--mca', 'pml', 'ob1', '--mca', 'btl', 'self,vader,tcp'],
        ...['--mca', 'btl_tcp_if_include', '10.77.0.0/24', '--mca', 'oob_tcp_if_include', '10.77.0.0/24'],
        ...(keepalive
          ? ['--mca', 'oob_tcp_keepalive_time', '5', '--mca', 'oob_tcp_keepalive_intvl', '1']
          : []),
        ...(keepalive ? ['--mca', 'oob_tcp_keepalive_probes', '3'] : []),
      ],
    })

    /**
     * Runs a job, cuts the link once its ranks compute, and returns the seconds from the cut to each line and
     * to the end.
     */
    async function cutLink(
      keepalive: boolean,
      onLine: (line: string, killLauncher: () => void) => void = () => {},
    ) {
      const processes: string[] = []
      const lines: { readonly line: string; readonly seconds: number }[] = []
      let cut = Number.NaN
      const since = () => (performance.now() - cut) / 1000
      const { exitCode, stderr } = await runBundledJob(machinesWith(keepalive), {
        ranks: 3,
        program: 'steady.ts',
        arguments: ['3600'],
        onLine(line, killLauncher) {
          lines.push({ line, seconds: since() })
          onLine(line, killLauncher)
          const [, process] = /^rank \d is process (\d+)$/.exec(line) ?? []
          if (process === undefined || processes.push(process) < 3) return
          // Not while mpirun still communicates with the other machine: it has no time limit for data that
          // is not acknowledged.
          void setTimeout(3000).then(() => {
            cut = performance.now()
            ip('-n', names[0], 'link', 'set', 'tandem0', 'down')
          })
        },
      })
      const seconds = since()
      const alive = () => processes.filter((process) => spawnSync('kill', ['-0', process]).status === 0)
      // The rank on the other machine ends by itself, because nothing there hears from the launcher. The
      // program itself waits for 1.5 s after its error.
      while (alive().length > 0) await setTimeout(100)
      const survivors = alive()
      return { exitCode, stderr, seconds, lines, survivors }
    }

    it('carries gathers, deliveries and messages', async () => {
      const { exitCode, stdout, stderr } = await runBundledJob(machinesWith(true), {
        ranks: 3,
        program: 'messages.ts',
      })
      expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: 'all messages are right\n' })
    })

    it('ends the job within 15 s when the link between them is cut', async ({ annotate }) => {
      const { exitCode, seconds, survivors } = await cutLink(true)
      await annotate(`the job ends ${seconds.toFixed(1)} s after the cut`)
      expect(exitCode).not.toBe(0)
      expect(seconds).toBeLessThan(15 * patience)
      expect(survivors).toEqual([])
    })

    // A heartbeat is sent every second and may stay unacknowledged for 10 s; the launcher has 2 s more to
    // report the cut first.
    it('gives the survivors a typed error within 15 s of the cut, if the launcher does not notice it', async ({
      annotate,
    }) => {
      let ended = 0
      const { lines, stderr, survivors } = await cutLink(false, (line, killLauncher) => {
        if (/ ends: /.test(line) && ++ended === 2) killLauncher()
      })
      const errors = lines.filter(({ line }) => line.includes(' ends: '))
      await annotate(
        errors.map(({ seconds }) => `a rank ends ${seconds.toFixed(1)} s after the cut`).join(', '),
      )
      expect(errors.map(({ line }) => line).sort(), stderr).toEqual(
        [0, 1].map((rank) =>
          expect.stringMatching(
            new RegExp(`^rank ${rank} ends: device-lost: .*rank 2 \\(process .* is not reachable`),
          ),
        ),
      )
      for (const { seconds } of errors) expect(seconds).toBeLessThan(15 * patience)
      expect(survivors).toEqual([])
    })
  },
)
