import { readFile } from 'node:fs/promises'
import { GpuError } from '@tandem-gpu/core'
import { describe, expect, it } from 'vitest'
import { exitCode, failureOf, UsageError } from './exit-code.ts'
import { main } from './program.ts'
import { recordedTerminal } from './terminal.ts'
import { tandem, testBackend } from './testing/tandem.ts'

describe('failureOf', () => {
  it.each([
    [new UsageError('Wrong.'), 2, 'bad-usage'],
    [new UsageError('Wrong.', 'bad-input'), 2, 'bad-input'],
    [new GpuError('no-device', 'None.'), 3, 'no-device'],
    [new GpuError('no-driver', 'None.'), 3, 'no-driver'],
    [new GpuError('device-lost', 'Lost.'), 3, 'device-lost'],
    [new GpuError('too-large', 'Large.'), 2, 'too-large'],
    [new GpuError('validation', 'Wrong.'), 2, 'validation'],
    [new GpuError('aborted', 'Stopped.'), 130, 'aborted'],
    // From another copy of core, which a backend may bring along.
    [Object.assign(new Error('Full.'), { name: 'GpuError', code: 'out-of-memory' }), 4, 'out-of-memory'],
    [new DOMException('This operation was aborted', 'AbortError'), 130, 'aborted'],
    [new TypeError('x is undefined'), 70, 'internal'],
    ['thrown text', 70, 'internal'],
  ])('%s exits with %i as %s', (error, exit, code) => {
    expect(failureOf(error)).toMatchObject({ exit, code })
  })

  it('shows the place in the source for a bug, and for nothing else', () => {
    expect(failureOf(new TypeError('x is undefined')).message).toContain('exit-code.test.ts')
    expect(failureOf(new GpuError('driver', 'The driver fails.')).message).toBe('The driver fails.')
  })
})

it('docs/cli.md lists every exit code, and the help those of a result, of arguments and of devices', async () => {
  const page = await readFile(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  const [, section] = page.split('## Exit codes')
  const listed = [...section!.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
  expect(listed).toEqual(Object.values(exitCode).sort((a, b) => a - b))
  const { stdout } = await tandem('--help')
  const [, line] = /^Exit codes: (.*)$/m.exec(stdout)!
  expect(line!.split(' · ').map((part) => Number.parseInt(part, 10))).toEqual([0, 1, 2, 3, 4])
})

it('an interrupt before any work exits with 130', async () => {
  const interrupted = new AbortController()
  interrupted.abort()
  const terminal = recordedTerminal(interrupted.signal)
  expect(await main(['jacobi', '--rows', '64', '--cols', '64', '--backend', testBackend], terminal)).toBe(130)
  expect(terminal.stdout).toBe('')
})

it('a result that was not checked is not a wrong answer', async () => {
  const { exit, stdout } = await tandem(`transpose --rows 3 --cols 5 --no-verify --backend ${testBackend}`)
  expect([exit, stdout]).toEqual([0, expect.stringMatching(/not checked/)])
})
