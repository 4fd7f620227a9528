import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type ProcessResult, startProcess, startTandem } from './testing/process.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const small = ['transpose', '--rows', '30', '--cols', '20']

/** A command that sweeps for hours. */
const endless = ['jacobi', '--rows', '1500', '--cols', '1500', '--iterations', '1000000']

function makeFifo(path: string): void {
  expect(spawnSync('mkfifo', [path]).status).toBe(0)
}

/** Resolves once the folder contains a file with a matching name. */
async function appears(folder: string, name: RegExp): Promise<void> {
  while (!(await readdir(folder)).some((entry) => name.test(entry))) await setTimeout(20)
}

/**
 * The result of `attempt`, which is repeated until `isInTime`. A process waits only for a limited time, and
 * on a busy machine its counterpart may be late.
 */
async function inTime(
  attempt: () => Promise<ProcessResult>,
  isInTime: (result: ProcessResult) => boolean,
): Promise<ProcessResult> {
  for (let turn = 1; ; turn++) {
    const result = await attempt()
    if (isInTime(result) || turn === 20) return result
  }
}

describe('an output', () => {
  it('keeps the permissions of the file that it replaces', async () => {
    const path = join(await temporaryFolder(), 'a.npy')
    await writeFile(path, 'before')
    await chmod(path, 0o640)
    expect((await startTandem([...small, '--output', path]).ended).exit).toBe(0)
    const { mode, size } = await stat(path)
    expect([mode & 0o777, size]).toEqual([0o640, 128 + 30 * 20 * 4])
  })

  it.each([true, false])(
    'replaces the target of a symbolic link, not the link (target exists: %s)',
    async (exists) => {
      const folder = await temporaryFolder()
      await mkdir(join(folder, 'data'))
      if (exists) await writeFile(join(folder, 'data', 'a.npy'), 'before')
      await symlink('data/a.npy', join(folder, 'one'))
      await symlink('one', join(folder, 'two'))
      expect((await startTandem([...small, '--output', join(folder, 'two')]).ended).exit).toBe(0)
      expect((await lstat(join(folder, 'two'))).isSymbolicLink()).toBe(true)
      expect((await lstat(join(folder, 'one'))).isSymbolicLink()).toBe(true)
      expect((await stat(join(folder, 'data', 'a.npy'))).size).toBe(128 + 30 * 20 * 4)
      expect(await readdir(join(folder, 'data'))).toEqual(['a.npy'])
    },
  )

  it('rejects a circle of links', async () => {
    const folder = await temporaryFolder()
    await symlink('b', join(folder, 'a'))
    await symlink('a', join(folder, 'b'))
    const { exit, stderr } = await startTandem([...small, '--output', join(folder, 'a')]).ended
    expect([exit, stderr]).toEqual([2, expect.stringContaining('its symbolic links form a loop')])
  })

  it('goes into a device, which remains one', async () => {
    const { exit } = await startTandem([...small, '--output', '/dev/null', '--trace', '/dev/null']).ended
    expect(exit).toBe(0)
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true)
  })

  it('is appended to a file that is standard output, and the report goes to standard error', async () => {
    const path = join(await temporaryFolder(), 'a.npy')
    const result = await startTandem([...small, '--output', '/dev/stdout'], {
      shell: `printf before > '${path}'; exec "$@" >> '${path}'`,
    }).ended
    expect(result).toMatchObject({ exit: 0, stdout: '', stderr: expect.stringContaining('verified') })
    const written = await readFile(path)
    expect(written.byteLength).toBe(6 + 128 + 30 * 20 * 4)
    expect(written.toString('latin1', 0, 12)).toBe('before\x93NUMPY')
    const quiet = await startTandem([...small, '--output', '/dev/stdout', '--quiet'], {
      shell: `exec "$@" > '${path}'`,
    }).ended
    expect([quiet.exit, quiet.stderr, (await stat(path)).size]).toEqual([0, '', 128 + 30 * 20 * 4])
  })

  it('goes into a FIFO, which remains one, even if its reader is late', async () => {
    const folder = await temporaryFolder()
    const [fifo, file] = [join(folder, 'fifo'), join(folder, 'a.npy')]
    makeFifo(fifo)
    // More than the 64 KiB that fit into a pipe.
    const large = ['transpose', '--rows', '300', '--cols', '200']
    const received = join(folder, 'received')
    const attempt = async () => {
      const target = await open(received, 'w')
      const writer = startTandem([...large, '--output', fifo])
      await setTimeout(500)
      const reader = startProcess('cat', [fifo], { stdio: ['ignore', target.fd, 'pipe'] })
      const result = await writer.ended
      // If the writer has given up, nobody opens the FIFO for writing any more.
      if (result.exit !== 0) reader.kill('SIGKILL')
      await reader.ended
      await target.close()
      return result
    }
    const { exit } = await inTime(attempt, ({ stderr }) => !stderr.includes('no process reads from it'))
    expect(exit).toBe(0)
    expect((await stat(fifo)).isFIFO()).toBe(true)
    expect((await startTandem([...large, '--output', file]).ended).exit).toBe(0)
    expect((await readFile(received)).equals(await readFile(file))).toBe(true)
  })

  it('says that nobody reads a FIFO', async () => {
    const fifo = join(await temporaryFolder(), 'fifo')
    makeFifo(fifo)
    const { exit, stderr } = await startTandem([...small, '--output', fifo]).ended
    expect([exit, stderr]).toEqual([
      2,
      expect.stringContaining('fifo cannot be written: no process reads from it.'),
    ])
  })

  it('of a killed run is removed by the next, and that of a running one is not', async () => {
    const folder = await temporaryFolder()
    const [killed, running] = ['killed.npy', 'running.npy'].map((name) =>
      startTandem([...endless, '--output', join(folder, name)]),
    )
    await Promise.all([appears(folder, /^\.killed.*tandem-tmp$/), appears(folder, /^\.running.*tandem-tmp$/)])
    killed!.kill('SIGKILL')
    await killed!.ended
    expect(await readdir(folder)).toHaveLength(2)
    expect((await startTandem([...small, '--output', join(folder, 'a.npy')]).ended).exit).toBe(0)
    expect((await readdir(folder)).sort()).toEqual([expect.stringMatching(/^\.running/), 'a.npy'])
    running!.kill('SIGKILL')
    await running!.ended
  })
})

describe('a full disk', () => {
  const sentence = (path: string, reason: string) => `tandem: ${path} cannot be written: ${reason}.\n`

  it.skipIf(!existsSync('/dev/full'))(
    'for the output (needs /dev/full) exits with 74 and a sentence',
    async () => {
      const { exit, stdout, stderr } = await startTandem([...small, '--output', '/dev/full']).ended
      expect([exit, stdout, stderr]).toEqual([74, '', sentence('/dev/full', 'no space is left on the disk')])
    },
  )

  it('or a limit on the size of files exits with 74 and a sentence, and leaves nothing', async () => {
    const folder = await temporaryFolder()
    const path = join(folder, 'a.npy')
    const { exit, stderr } = await startTandem(
      ['transpose', '--rows', '2000', '--cols', '2000', '--no-verify', '--output', path],
      {
        // In KiB. The software GPU itself needs a file of several hundred KiB in memory.
        shell: 'ulimit -f 4000; exec "$@"',
      },
    ).ended
    expect([exit, stderr]).toEqual([
      74,
      sentence(path, 'the file would exceed the size limit of the process or of the file system'),
    ])
    expect(await readdir(folder)).toEqual([])
  })

  it.skipIf(!existsSync('/dev/full'))(
    'for standard output (needs /dev/full) exits with 74 and a sentence',
    async () => {
      const { exit, stderr } = await startTandem(small, { shell: 'exec "$@" > /dev/full' }).ended
      expect([exit, stderr]).toEqual([
        74,
        'tandem: standard output cannot be written: no space is left on the disk.\n',
      ])
    },
  )
})

it('a pipe whose reader has read enough ends the command quietly, with the exit code of a broken pipe', async () => {
  const shell = 'set -o pipefail; "$@" | true'
  const { exit, stderr } = await startTandem(small, { shell }).ended
  expect([exit, stderr]).toEqual([141, ''])
})

it('head gets its line, and nothing complains', async () => {
  const { exit, stdout, stderr } = await startTandem(['--help'], { shell: '"$@" | head -1' }).ended
  expect([exit, stdout, stderr]).toEqual([0, 'Usage: tandem [options] [command]\n', ''])
})

describe('an input', () => {
  it('that is a FIFO without a writer is rejected immediately', async () => {
    const fifo = join(await temporaryFolder(), 'fifo')
    makeFifo(fifo)
    const { exit, stderr } = await startTandem(['reduce', '--input', fifo]).ended
    expect([exit, stderr]).toEqual([2, `tandem: ${fifo} is not a regular file.\n`])
  })

  it.each(['run', 'translate'])(
    'of WGSL that is a FIFO or a device is rejected immediately: %s',
    async (command) => {
      const fifo = join(await temporaryFolder(), 'fifo')
      makeFifo(fifo)
      for (const file of [fifo, '/dev/zero']) {
        const { exit, stderr } = await startTandem([command, file]).ended
        expect([exit, stderr]).toEqual([2, expect.stringContaining(`${file} is not a regular file.`)])
      }
    },
  )

  it('of other libraries that is a FIFO is rejected immediately', async () => {
    const fifo = join(await temporaryFolder(), 'fifo')
    makeFifo(fifo)
    const { exit, stderr } = await startTandem(['bench', '--peers', fifo]).ended
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`${fifo} is not a regular file.`)])
  })

  it('of WGSL that is far too long is rejected', async () => {
    const file = join(await temporaryFolder(), 'long.wgsl')
    await writeFile(file, '')
    await truncate(file, 2 ** 32)
    const { exit, stderr } = await startTandem(['translate', file]).ended
    expect([exit, stderr]).toEqual([2, expect.stringContaining('long.wgsl has more than 67108864 bytes.')])
  })

  it('with control characters in its name is escaped on the terminal', async () => {
    const name = 'a\u001b[31mred\u0007\n\u202eb.npy'
    for (const args of [['reduce', '--input', name], [name], ['reduce', `--${name}`]]) {
      const { exit, stderr } = await startTandem(args).ended
      expect(exit).toBe(2)
      expect(stderr).toContain('\\x1b[31mred\\x07')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    }
  })
})

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends a run of hours with 130, and no file appears',
    async (signal) => {
      const attempt = async () => {
        const folder = await temporaryFolder()
        const files = ['--output', join(folder, 'u.npy'), '--trace', join(folder, 't.json')]
        const run = startTandem([...endless, ...files])
        await appears(folder, /^\.u\.npy/)
        await setTimeout(1500)
        run.kill(signal)
        const result = await run.ended
        // A process that the operating system ends may leave temporary files, which the next run removes.
        const left = await readdir(folder)
        expect(left.filter((name) => result.signal === null || !name.endsWith('tandem-tmp'))).toEqual([])
        return result
      }
      const { exit, stderr } = await inTime(attempt, (result) => result.signal === null)
      expect(exit).toBe(130)
      expect(stderr).toMatch(
        /^tandem: Interrupted (after [\d,]+ of 1,000,000 sweeps|while \w.*); nothing was written\.$/m,
      )
    },
  )

  /**
   * A process whose event loop is blocked from the first signal on, as in a call into a driver that does not
   * return.
   */
  const stuck = (during: string, ...files: string[]) =>
    startProcess(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      `import { interruptionOf } from ${JSON.stringify(fileURLToPath(new URL('./interruption.ts', import.meta.url)))}
const signal = interruptionOf(process)
const keep = setInterval(() => {}, 1000)
signal.addEventListener('abort', () => setImmediate(async () => { ${during} }))
console.log('ready')`,
      ...files,
    ])

  it.each([
    [
      'ends a process that makes no progress, and says why',
      'for (;;);',
      { exit: null, signal: 'SIGTERM' },
      /^tandem: A call into the driver or the operating system does not return/,
    ],
    [
      'ends a process that waits, and says why',
      '',
      { exit: 130, signal: null },
      /^tandem: The work in flight did not finish within a second/,
    ],
    [
      'ends a process that waits for the operating system',
      "(await import('node:fs/promises')).readFile(process.argv[1])",
      { exit: null, signal: 'SIGTERM' },
      /^tandem: The work in flight did not finish within a second/,
    ],
    [
      'leaves time to close the devices',
      'clearInterval(keep); process.exitCode = 130',
      { exit: 130, signal: null },
      /^$/,
    ],
  ])('%s', async (_, during, end, why) => {
    const fifo = join(await temporaryFolder(), 'fifo')
    makeFifo(fifo)
    const attempt = async () => {
      const run = stuck(during, fifo)
      await run.says('ready')
      run.kill('SIGTERM')
      return run.ended
    }
    const { stderr, ...ended } = await inTime(attempt, ({ signal }) => signal === end.signal)
    expect(ended).toMatchObject(end)
    expect(stderr).toMatch(why)
  })

  it('that comes second ends the process immediately', async () => {
    const run = stuck("console.log('stuck'); for (;;);")
    await run.says('ready')
    run.kill('SIGINT')
    await run.says('stuck')
    run.kill('SIGINT')
    expect(await run.ended).toMatchObject({ exit: null, signal: 'SIGINT' })
  })
})
