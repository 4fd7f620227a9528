// A process of its own runs a kernel that never ends and never checks whether it should: nothing stops the
// kernel, so the process must end without it.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fakeLibraries } from './testing/fake-driver.ts'

const sources = fileURLToPath(new URL('.', import.meta.url))
/**
 * What `destroy` and the end of the process may take. In `npm test` a busy machine may exceed it: the long
 * form runs alone.
 */
const mostMilliseconds = process.env.TANDEM_LONG === '1' ? 2000 : Number.POSITIVE_INFINITY

/** Runs it with a limit, says what becomes of everything else, and then does as `end` says. */
const script = (end: string) => `
  import { openGroup } from '@tandem-gpu/core'
  import { cudaBackend } from ${JSON.stringify(`${sources}cuda.ts`)}
  const endless = \`extern "C" int usleep(unsigned);
    extern "C" __global__ void endless(unsigned *x, unsigned long long bytes) { for (;;) usleep(1000); }\`
  const translate = () => ({
    source: endless, entryName: 'endless', workgroupSize: [1, 1, 1], dynamicSharedByteLength: 0, lineMap: [],
    minimumComputeCapability: undefined,
    parameters: ['storage', 'byte-length'].map((kind) => ({ kind, name: kind, type: '', bindingIndex: 0 })),
  })
  const libraries = ${JSON.stringify(fakeLibraries())}
  const group = await openGroup({ backends: [cudaBackend({ libraries, kernelCache: false }, translate)], devices: 2 })
  const kernel = await group.compile({
    wgsl: '@group(0) @binding(0) var<storage, read_write> x: array<u32>; @compute @workgroup_size(1) fn main() { x[0] = 1; }',
  })
  const x = await group.devices[0].allocate('u32', 1)
  const program = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x } }))
  const code = (promise) => Promise.resolve(promise).then(() => 'none', (error) => error.code)
  const outcome = {
    beforehand: await code(group.queue.run(group.record((r) => r.fill(x, 1)), 3, { timeoutSeconds: 600 })),
    senseless: await code(group.queue.run(program, 1, { timeoutSeconds: -1 })),
  }
  const running = code(group.queue.run(program, 5, { timeoutSeconds: 0.2 }))
  const pending = code(group.queue.read(x))
  // Neither the limit of a run that never begins nor a kernel that is never loaded keeps the group or the
  // process.
  const behind = code(group.queue.run(program, 1, { timeoutSeconds: 600 }))
  await new Promise((resolve) => setTimeout(resolve, 100))
  const compiling = code(group.compile({ wgsl: '@compute @workgroup_size(1) fn main() { return; }' }))
  outcome.running = await running
  outcome.pending = await pending
  outcome.behind = await behind
  outcome.lost = (await group.lost).reason
  outcome.later = await code(group.queue.run(program))
  outcome.allocating = await code(group.devices[1].allocate('u32', 1))
  const before = performance.now()
  await group.destroy()
  outcome.compiling = await compiling
  outcome.destroyMilliseconds = performance.now() - before
  console.log(JSON.stringify(outcome))
  ${end}`

interface Ended {
  readonly outcome: { readonly destroyMilliseconds: number }
  readonly code: number | null
  readonly signal: string | null
  /** From what it printed, behind which it only ends. */
  readonly milliseconds: number
}

async function run(end: string): Promise<Ended> {
  const child = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', script(end)], {
    cwd: sources,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  let told = 0
  child.stdout.on('data', (text) => {
    output += text
    told = performance.now()
    if (end.includes('SIGTERM')) child.kill('SIGTERM')
  })
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on('close', (...ending) => resolve(ending)),
  )
  return { outcome: JSON.parse(output), code, signal, milliseconds: performance.now() - told }
}

it.each([
  ['by itself', '', { code: 0, signal: null }],
  ['by process.exit', 'process.exit(7)', { code: 7, signal: null }],
  ['by SIGTERM', 'setInterval(() => {}, 1000) // until SIGTERM', { code: null, signal: 'SIGTERM' }],
])(
  'rejects a run that takes too long, loses its group, and lets the process end %s',
  async (_, end, ending) => {
    const { outcome, milliseconds, ...ended } = await run(end)
    expect(outcome).toEqual({
      beforehand: 'none',
      senseless: 'validation',
      running: 'timeout',
      pending: 'device-lost',
      behind: 'device-lost',
      compiling: 'device-lost',
      lost: 'unknown',
      later: 'device-lost',
      allocating: 'device-lost',
      destroyMilliseconds: expect.any(Number),
    })
    expect(ended).toEqual(ending)
    expect(outcome.destroyMilliseconds).toBeLessThan(mostMilliseconds)
    expect(milliseconds).toBeLessThan(mostMilliseconds)
  },
)
