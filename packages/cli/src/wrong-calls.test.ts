import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cuda } from '@tandem-gpu/backend-cuda'
import { mpi } from '@tandem-gpu/backend-mpi'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { isGpuError } from '@tandem-gpu/core'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadCommands } from './commands/index.ts'
import { main } from './program.ts'
import { recordedTerminal } from './terminal.ts'
import { tandem } from './testing/tandem.ts'

const long = process.env.TANDEM_LONG === '1'
const folder = mkdtempSync(join(tmpdir(), 'tandem-wrong-'))
const before = process.cwd()
// Some of the values are valid names of files.
beforeAll(() => {
  process.chdir(folder)
  writeFileSync(
    'kernel.wgsl',
    '@group(0) @binding(0) var<storage, read_write> x: array<f32>; @compute @workgroup_size(1) fn main() { x[0] += 1; }',
  )
})
afterAll(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true, force: true })
})

/** Takes many seconds if nothing is wrong. */
const left = 'demo'

/** Each command with arguments for little work. */
const commands = (await loadCommands())
  .filter(({ name }) => name !== left)
  .map(({ name, documents }) => ({
    name,
    given: name === 'bench' ? ['--works=none'] : Object.values(documents)[0]!.split(' ').filter(Boolean),
  }))

const values = [
  ...['', ' ', '-1', '0', '1.5', 'NaN', '1e999', '0x10', '99999999999999999999', '9007199254740993'],
  ...['null', '[]', '{}', '--', '=', 'a,b', ',', '🙂', '\u202e', 'constructor', '__proto__'],
  ...['x=', 'x=1', 'x=f32:9e15', 'x=/nowhere/x.npy', '__proto__={}'],
  ...['/', '.', '/nowhere/x.npy', '/dev/full', '/dev/null', folder],
]

/** The options with a value, according to the help. */
async function optionsOf(command: string): Promise<string[]> {
  const { stdout } = await tandem(`${command} --help`)
  return [...stdout.matchAll(/^ {2}(--[\w-]+) <[^>]+>/gm)].map((match) => match[1]!)
}

it('every wrong argument of a command ends in a sentence', async () => {
  const table: ((typeof commands)[number] & { readonly options: readonly string[] })[] = []
  for (const command of commands)
    table.push({ ...command, options: [...(await optionsOf(command.name)), '--surprise'] })
  expect(table.flatMap(({ options }) => options).length).toBeGreaterThan(80)
  const lines = fc.nat(table.length - 1).chain((at) =>
    fc.record({
      at: fc.constant(at),
      added: fc.array(fc.tuple(fc.constantFrom(...table[at]!.options), fc.constantFrom(...values)), {
        minLength: 1,
        maxLength: 2,
      }),
      extra: fc.constantFrom([], ['--json'], ['--'], ['surprise'], ['-x']),
    }),
  )
  await fc.assert(
    fc.asyncProperty(lines, async ({ at, added, extra }) => {
      const { name, given, options } = table[at]!
      const argv = [
        name,
        ...(options.includes('--backend') ? ['--backend=webgpu'] : []),
        ...given,
        ...added.map(([option, value]) => `${option}=${value}`),
        ...extra,
      ]
      const terminal = recordedTerminal()
      const exit = await main(argv, terminal)
      expect([0, 2, 3, 74], `${argv.join(' ')}: ${terminal.stderr}`).toContain(exit)
      expect(`${terminal.stderr}${terminal.stdout}`, argv.join(' ')).not.toMatch(/\w*Error:|^ +at .*:\d+/m)
      if (exit !== 0) expect(terminal.stderr, argv.join(' ')).toMatch(/\w+ \w+/)
    }),
    { numRuns: long ? 4000 : 120 },
  )
})

const wrong = [
  null,
  Number.NaN,
  '',
  'x',
  7n,
  Symbol('x'),
  {},
  [],
  [1],
  () => 1,
  Promise.resolve(1),
  new Date(0),
]

it('every wrong option of a backend ends in a sentence', async () => {
  const inner = webgpu()
  const makers: readonly (readonly [readonly string[], (options: never, value: never) => unknown])[] = [
    [['device', 'gpu', 'software', 'peerAccess', 'toggles', 'surprise'], (options) => webgpu(options)],
    [
      ['kernelCache', 'fmad', 'peerAccess', 'lowering', 'libraries', 'shippedKernels'],
      (options) => cuda(options),
    ],
    [['directory', 'maxByteLength', 'x'], (kernelCache) => cuda({ kernelCache })],
    [['cuda', 'nvrtc', 'nvml', 'x'], (libraries) => cuda({ libraries })],
    [['virtual', 'libraries', 'surprise'], (options) => mpi(inner, options)],
    [['x'], (_, value) => mpi(value)],
  ]
  let refused = 0
  for (const [names, make] of makers)
    for (const name of names)
      for (const value of wrong)
        for (const options of [{ [name]: value }, value])
          try {
            make(options as never, value as never)
          } catch (error) {
            if (!isGpuError(error, 'validation')) throw error
            expect(error.message).toMatch(/\w \w.*\.$/)
            refused++
          }
  expect(refused).toBeGreaterThan(400)
})
