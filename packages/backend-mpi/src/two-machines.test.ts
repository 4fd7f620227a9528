import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMpi, runJob, whereInstalled } from './testing/launchers.ts'

// Two network namespaces with host names of their own and a link between them are two machines to MPI and to Tandem: ranks 0 and 1 are on
// the first, rank 2 is on the second, and their messages go over TCP.
const names = ['tandem-a', 'tandem-b'] as const
const addresses = ['10.77.0.1', '10.77.0.2'] as const

const ip = (...args: string[]) => spawnSync('ip', args, { encoding: 'utf8' })
const allowed = ip('netns', 'add', 'tandem-probe').status === 0
ip('netns', 'del', 'tandem-probe')
const missing = allowed ? '' : ' (skipped: this user may not make network namespaces)'

describe.skipIf(!openMpi.installed || !allowed)(
  `${whereInstalled(openMpi)} on two machines${missing}`,
  () => {
    let folder: string

    beforeAll(async () => {
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
      // In place of ssh: the first argument is the host.
      const agent = join(folder, 'agent')
      await writeFile(
        agent,
        `#!/bin/bash\nhost=$1\nshift\ncase $host in ${addresses[1]}) name=${names[1]} ;; *) name=${names[0]} ;; esac\nexec ip netns exec $name unshare --uts bash -c 'hostname '$name'; exec bash -c "$*"' bash "$@"\n`,
      )
      await chmod(agent, 0o755)
    })
    afterAll(async () => {
      for (const name of names) ip('netns', 'del', name)
      await rm(folder, { recursive: true, force: true })
    })

    const machines = {
      command: 'ip',
      name: openMpi.name,
      installed: true,
      get options() {
        return [
          ...['netns', 'exec', names[0], 'unshare', '--uts', 'bash', '-c'],
          ...[`hostname ${names[0]}; exec "$@"`, 'bash', openMpi.command, ...openMpi.options],
          ...[
            '--host',
            `${addresses[0]}:2,${addresses[1]}:1`,
            '--mca',
            'plm_rsh_agent',
            join(folder, 'agent'),
          ],
          ...['--mca', 'pml', 'ob1', '--mca', 'btl', 'self,vader,tcp'],
          ...['--mca', 'btl_tcp_if_include', '10.77.0.0/24', '--mca', 'oob_tcp_if_include', '10.77.0.0/24'],
          ...['--mca', 'oob_tcp_keepalive_time', '5', '--mca', 'oob_tcp_keepalive_intvl', '1'],
          ...['--mca', 'oob_tcp_keepalive_probes', '3'],
        ]
      },
    }

    it('carries gathers, deliveries and messages', async () => {
      const { exitCode, stdout, stderr } = await runJob(machines, { ranks: 3, program: 'messages.ts' })
      expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: 'all messages are right\n' })
    })

    it('ends the job when the link between them is cut', async () => {
      let cut = 0
      let ranks = 0
      const { exitCode } = await runJob(machines, {
        ranks: 3,
        program: 'steady.ts',
        arguments: ['90'],
        onLine(line) {
          if (!/^rank \d is process/.test(line) || ++ranks < 3) return
          // Not while mpirun still speaks to the other machine: it has no time limit for what is not acknowledged.
          void setTimeout(3000).then(() => {
            cut = performance.now()
            ip('-n', names[0], 'link', 'set', 'tandem0', 'down')
          })
        },
      })
      ip('-n', names[0], 'link', 'set', 'tandem0', 'up')
      expect(exitCode).not.toBe(0)
      expect((performance.now() - cut) / 1000).toBeLessThan(60)
    })
  },
)
