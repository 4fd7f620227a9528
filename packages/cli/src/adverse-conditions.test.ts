import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { loadCommands } from './commands/index.ts'
import { startTandem } from './testing/process.ts'

const long = process.env.TANDEM_LONG === '1'

/** A user's kernel, in a folder that no adverse condition affects. */
const kernelFolder = await mkdtemp(join(tmpdir(), 'tandem-kernel-'))
const kernel = join(kernelFolder, 'increment.wgsl')
await writeFile(
  kernel,
  `@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&x)) { x[id.x] += 1; }
}`,
)
afterAll(() => rm(kernelFolder, { recursive: true }))

/** Work for one or two seconds; `OUT` stands for a folder. */
const longer: Readonly<Record<string, readonly string[]>> = {
  demo: ['--folder', 'OUT/demo'],
  select: ['--explain'],
  transpose: ['--rows', '300', '--cols', '200', '--output', 'OUT/t.npy', '--trace', 'OUT/t.json'],
  reduce: ['--elements', '50000'],
  scan: ['--elements', '50000', '--output', 'OUT/s.npy'],
  histogram: ['--elements', '50000', '--bins', '30', '--image', 'OUT/h.svg'],
  sort: ['--elements', '50000', '--devices', '1', '--output', 'OUT/o.npy', '--indices', 'OUT/i.npy'],
  matmul: ['--m', '80', '--k', '70', '--n', '90', '--output', 'OUT/m.npy'],
  jacobi: [
    '--rows',
    '90',
    '--cols',
    '80',
    '--iterations',
    '50',
    '--output',
    'OUT/j.npy',
    '--image',
    'OUT/j.png',
  ],
  ring: ['--n', '64', '--output', 'OUT/r.npy'],
  bench: [
    '--works',
    'reduce',
    '--sizes',
    'small',
    '--devices',
    '1',
    '--samples',
    '1',
    '--report',
    'OUT/b.html',
  ],
  fft: ['--shape', '60x50', '--output', 'OUT/f.npy'],
  bandwidth: ['--bytes', '4096', '--samples', '2'],
  monitor: ['--count', '3', '--interval', '50'],
  run: [kernel, '--buffer', 'x=f32:300x200', '--times', '50', '--output', 'x=OUT/x.npy'],
  translate: [kernel],
}

const commands = Object.fromEntries(
  (await loadCommands()).map(({ name, documents }) => [
    name,
    longer[name] ?? Object.values(documents)[0]!.split(' ').filter(Boolean),
  ]),
)

interface Condition {
  /** A line of bash that ends in the command, `"$@"`. */
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signals?: true
  /** Standard error is closed, so the command cannot report anything. */
  readonly deaf?: true
  /** Standard output has no reader, which ends a command quietly. */
  readonly unread?: true
  /** Signals with which third-party libraries end the process under this condition. */
  readonly libraries?: readonly NodeJS.Signals[]
  /** Needs its own mount namespace. */
  readonly mounts?: true
}

const inNamespace = (mounts: string) => `exec unshare -rm bash -c '${mounts} && exec "$@"' bash "$@"`
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

/** The wall clock jumps back and forth by days. */
const jumping = `let n = 0; const now = Date.now; Date.now = () => now() + (n++ % 3 - 1) * 864e5; const D = Date; globalThis.Date = class extends D { constructor(...a) { super(...(a.length ? a : [D.now()])) } }`

const conditions: Readonly<Record<string, Condition>> = {
  'signals at random times': { signals: true },
  'a disk of 64 KiB': { shell: inNamespace('mount -t tmpfs -o size=64k none "$OUT"'), mounts: true },
  'a read-only file system': {
    shell: inNamespace('mount --bind "$OUT" "$OUT" && mount -o remount,bind,ro "$OUT" && cd "$OUT"'),
    env: { HOME: 'OUT', TMPDIR: 'OUT', XDG_CACHE_HOME: 'OUT/cache' },
    mounts: true,
  },
  'a pipe without a reader': { shell: 'set -o pipefail; "$@" | true', unread: true },
  'a standard output that is closed': { shell: 'exec "$@" >&-' },
  'a standard error that is closed': { shell: 'exec "$@" 2>&-', deaf: true },
  'a standard input that is closed': { shell: 'exec "$@" <&-' },
  'neither HOME nor TMPDIR': { shell: 'unset HOME TMPDIR XDG_CACHE_HOME; exec "$@"' },
  'folders that do not exist': { env: { HOME: '/nowhere', TMPDIR: '/nowhere', XDG_CACHE_HOME: '/nowhere' } },
  'caches that cannot be written': { env: { HOME: '/proc', XDG_CACHE_HOME: '/proc' } },
  'clocks that jump': {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(jumping)}` },
  },
  'at most 48 open files': { shell: 'ulimit -n 48; exec "$@"' },
  // V8, Dawn and SwiftShader end the process if they cannot allocate memory.
  'little address space': {
    shell: 'ulimit -v 4000000; exec "$@"',
    libraries: ['SIGSEGV', 'SIGABRT', 'SIGTRAP', 'SIGILL'],
  },
}

/** Success, wrong arguments or files, no usable device, a file that cannot be written, and interruption. */
const told = [0, 2, 3, 74, 130]

/** An incomplete file with its final name. */
async function damaged(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  const wrong = names.filter((name) => name.endsWith('tandem-tmp'))
  for (const name of names.filter((one) => one.endsWith('.npy'))) {
    const bytes = await readFile(join(folder, name))
    const header = bytes.toString('latin1', 0, 128)
    const [, itemByteLength] = /'descr': '[<|][a-z](\d)'/.exec(header) ?? []
    const [, shape] = /'shape': \(([\d, ]*)\)/.exec(header) ?? []
    const length = shape
      ?.split(',')
      .filter((text) => text.trim() !== '')
      .reduce((product, text) => product * Number(text), 1)
    if (bytes.length !== 128 + Number(itemByteLength) * Number(length))
      wrong.push(`${name} of ${bytes.length} bytes`)
  }
  return wrong
}

async function attempt(command: string, condition: Condition): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-adverse-'))
  const filled = (text: string) => text.replaceAll('OUT', folder)
  const env = Object.fromEntries(Object.entries(condition.env ?? {}).map(([k, v]) => [k, filled(v)]))
  const run = startTandem([command, ...commands[command]!.map(filled)], {
    ...(condition.shell && { shell: condition.shell }),
    env: { ...env, OUT: folder },
  })
  let sent: NodeJS.Signals | undefined
  const milliseconds = Math.random() * 4000
  if (condition.signals) {
    const ended = Promise.race([run.ended.then(() => true), setTimeout(milliseconds, false)])
    if (!(await ended)) {
      sent = Math.random() < 0.5 ? 'SIGINT' : 'SIGTERM'
      run.kill(sent)
    }
  }
  const { exit, signal, stderr, stdout } = await run.ended
  const wrong: string[] = []
  const byLibrary = signal !== null && condition.libraries?.includes(signal) === true
  const quietly = condition.unread === true && exit === 141
  if (exit === null ? signal !== sent && !byLibrary : !told.includes(exit) && !quietly)
    wrong.push(`ends with ${exit ?? signal}`)
  if (/^ +at .*:\d+|\w+Error:/m.test(stderr + stdout)) wrong.push('shows a trace')
  // Reports about something that the host lacks, such as that of `doctor`, go to standard output.
  if (exit !== 0 && exit !== null && exit !== 130 && !quietly && !condition.deaf && stderr + stdout === '')
    wrong.push('says nothing')
  if ((sent === undefined && !byLibrary) || exit !== null) wrong.push(...(await damaged(folder)))
  await rm(folder, { recursive: true, force: true })
  const when = sent === undefined ? '' : ` (${sent} after ${milliseconds} ms)`
  return wrong.map((what) => `tandem ${command}${when}: ${what}\n${stderr}${stdout}`)
}

describe.each(Object.keys(conditions))('under %s', (name) => {
  const condition = conditions[name]!
  const missing = condition.mounts && !canMount ? ' (needs unshare and mount)' : ''
  it.skipIf(missing !== '')(`commands end with an answer or a sentence${missing}`, async () => {
    const names = Object.keys(commands)
    // Every second command writes a file; in the long form, all do.
    const list = Math.random() < 0.5 ? names : ['transpose', 'matmul', 'jacobi', 'ring', 'run']
    const drawn = [list[Math.floor(Math.random() * list.length)]!]
    const wrong: string[] = []
    for (const command of long ? names : drawn) wrong.push(...(await attempt(command, condition)))
    expect(wrong).toEqual([])
  })
})
