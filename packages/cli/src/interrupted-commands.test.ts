import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { main } from './program.ts'
import { type Progress, silentProgress } from './progress.ts'
import { type RecordedTerminal, recordedTerminal } from './terminal.ts'
import { testBackend } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

/**
 * A terminal on which Ctrl-C is pressed when `at` returns true for the progress. It is called whenever work
 * begins or advances.
 */
function interruptedTerminal(at: (progress: Progress) => boolean): RecordedTerminal {
  const controller = new AbortController()
  const progress = silentProgress()
  const watched: Progress = {
    start(...work) {
      progress.start(...work)
      look()
    },
    step(amount) {
      progress.step(amount)
      look()
    },
    reach(done) {
      progress.reach(done)
      look()
    },
    begin: (...work) => progress.begin(...work),
    stop: () => progress.stop(),
    finish: () => progress.finish(),
    get finishing() {
      return progress.finishing
    },
    get whereabouts() {
      return progress.whereabouts
    },
  }
  const look = () => {
    if (at(watched)) controller.abort()
  }
  return recordedTerminal(controller.signal, watched)
}

const scaleKernel = `@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&x)) { x[id.x] = 2 * x[id.x]; }
}`

describe('Ctrl-C', () => {
  it.each([
    ['transpose --rows 30 --cols 20 --samples 3 --output a.npy', 'after 1 of 3 runs'],
    ['reduce --elements 99 --samples 3', 'after 1 of 3 runs'],
    ['scan --elements 99 --samples 3 --output a.npy', 'after 1 of 3 runs'],
    ['histogram --elements 99 --samples 3 --image a.svg', 'after 1 of 3 runs'],
    ['sort --elements 99 --samples 3 --output a.npy', 'after 1 of 3 runs'],
    ['fft --shape 8x8 --samples 3 --output a.npy', 'after 1 of 3 runs'],
    ['matmul --n 20 --samples 3 --output a.npy', 'after 1 of 3 runs'],
    ['jacobi --rows 20 --cols 20 --iterations 20000 --image a.png', 'after 100 of 20,000 sweeps'],
    [
      'jacobi --scaling --rows 20 --cols 20 --devices 2 --virtual --iterations 100',
      'after 1 of 3 measurements',
    ],
    ['ring --n 16 --samples 3 --devices 2 --virtual --output a.npy', 'after 1 of 3 runs'],
    ['ring --n 16 --compare --devices 2 --virtual --samples 1', 'after 1 of 14 measurements'],
    ['bandwidth --bytes 4K --devices 2 --virtual --samples 1', 'after 1 of 4 pairs of devices'],
    ['bench --works transpose --sizes small --samples 1 --report a.html', 'after 1 of 3 measurements'],
    ['demo --folder .', 'after 100 of 1,500 sweeps'],
    ['run scale.wgsl --buffer x=f32:99 --times 100 --output x=a.npy', /^after \d+ of 100 runs$/],
    ['doctor', 'after 1 of 1 backends'],
  ])('%s: one sentence says what was done; exit code 130, no result and no file', async (line, done) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'scale.wgsl'), scaleKernel)
    const args = line
      .split(' ')
      .map((word) =>
        word.replace(
          /^(x=)?(a\.\w+|scale\.wgsl|\.)$/,
          (_, name = '', file) => `${name}${join(folder, file)}`,
        ),
      )
    const terminal = interruptedTerminal(({ whereabouts }) => whereabouts.startsWith(' after'))
    const exit = await main([...args, '--backend', testBackend], terminal)
    const [, whereabouts] = /^tandem: Interrupted (.*); nothing was written\.\n$/.exec(terminal.stderr) ?? []
    expect(whereabouts, terminal.stderr).toEqual(
      typeof done === 'string' ? done : expect.stringMatching(done),
    )
    expect([exit, terminal.stdout]).toEqual([130, ''])
    expect(await readdir(folder)).toEqual(['scale.wgsl'])
  })

  it.each(['devices', 'select', 'topology'])('%s, which only looks for devices, says so', async (command) => {
    const terminal = interruptedTerminal(() => true)
    const exit = await main([command, '--backend', testBackend], terminal)
    expect([exit, terminal.stdout, terminal.stderr]).toEqual([
      130,
      '',
      'tandem: Interrupted while looking for devices; nothing was written.\n',
    ])
  })

  it('that came before the command began ends it before any work', async () => {
    const terminal = recordedTerminal(AbortSignal.abort())
    const exit = await main(['reduce', '--elements', '99', '--backend', testBackend], terminal)
    expect([exit, terminal.stdout, terminal.stderr]).toEqual([
      130,
      '',
      'tandem: Interrupted; nothing was written.\n',
    ])
  })

  it('is one document with --json', async () => {
    const terminal = interruptedTerminal(({ whereabouts }) => whereabouts.startsWith(' after'))
    await main(['reduce', '--elements', '99', '--samples', '3', '--json', '--backend', testBackend], terminal)
    expect(JSON.parse(terminal.stdout)).toMatchObject({
      error: { code: 'aborted', message: 'Interrupted after 1 of 3 runs; nothing was written.' },
    })
  })

  it('comes too late when the results are being handed over', async () => {
    const controller = new AbortController()
    const terminal = recordedTerminal(controller.signal)
    const { progress } = terminal
    const finish = progress.finish.bind(progress)
    progress.finish = () => {
      finish()
      controller.abort()
    }
    const exit = await main(['reduce', '--elements', '99', '--backend', testBackend], terminal)
    expect([exit, terminal.stdout, terminal.stderr]).toEqual([0, expect.stringContaining('verified'), ''])
  })
})
