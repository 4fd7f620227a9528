// A kernel on real GPUs that never ends and cannot be left takes nothing but its own process with it.
import { spawn } from 'node:child_process'
import { openGroup } from '@tandem-gpu/core'
import { describe, expect, it } from 'vitest'
import { cuda } from './cuda.ts'

const { adapters, absence } = await cuda().adapters()
const reason = absence === undefined ? '' : ` (skipped: ${absence.reason})`
const mostMilliseconds = 2000

/** In a process of its own: says what it saw, and then does as `end` says. */
const script = (end: string) => `
  import { cuda } from '@tandem-gpu/backend-cuda'
  import { openGroup } from '@tandem-gpu/core'
  const group = await openGroup({ backends: [cuda()], devices: ${adapters.length} })
  // The rounds of a subgroup differ in a kernel with subgroup matrices: such a loop cannot be left.
  const kernel = await group.compile({
    wgsl: \`
      enable f16;
      enable chromium_experimental_subgroup_matrix;
      @group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
      var<workgroup> tile: array<f16, 256>;
      @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
        let matrix = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile, 0u, 16u);
        loop { if (atomicLoad(&x[0]) == 7u + i) { break; } }
      }\`,
  })
  const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 1)))
  const program = group.record((r) => {
    for (const x of buffers) r.dispatch(kernel, { workgroups: 1, args: { x } })
  })
  const code = (promise) => promise.then(() => 'none', (error) => error.code)
  const running = code(group.queue.run(program, 3, { timeoutSeconds: 1 }))
  const pending = code(group.queue.read(buffers[0]))
  const codes = [await running, await pending, await code(group.queue.run(program))]
  const before = performance.now()
  await group.destroy()
  console.log(JSON.stringify({ codes, destroyMilliseconds: performance.now() - before }))
  ${end}`

describe.skipIf(absence !== undefined)(`an endless kernel that cannot be left${reason}`, () => {
  it.each([
    ['by itself', '', null],
    ['by process.exit', 'process.exit(0)', null],
    ['by SIGTERM', 'setInterval(() => {}, 1000)', 'SIGTERM'],
  ])('lets its process end soon, %s, and the GPUs compute for the next one', async (_, end, signal) => {
    const child = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', script(end)], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const guard = setTimeout(() => child.kill('SIGKILL'), 60_000)
    let output = ''
    let told = 0
    child.stdout.on('data', (text) => {
      output += text
      told = performance.now()
      if (signal === 'SIGTERM') child.kill(signal)
    })
    const endedBy = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
    clearTimeout(guard)
    expect(performance.now() - told).toBeLessThan(mostMilliseconds)
    expect(endedBy).toBe(signal)
    const { codes, destroyMilliseconds } = JSON.parse(output)
    expect(codes).toEqual(['timeout', 'device-lost', 'device-lost'])
    expect(destroyMilliseconds).toBeLessThan(mostMilliseconds)
    await expectComputes()
  })
})

/** This process, which is not the one that hung, computes on the same GPUs. */
async function expectComputes(): Promise<void> {
  const group = await openGroup({ backends: [cuda()], devices: adapters.length })
  const kernel = await group.compile({
    wgsl: `
      @group(0) @binding(0) var<storage, read_write> x: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { x[id.x] = id.x * id.x; }`,
  })
  const x = await group.devices.at(-1)!.allocate('u32', 4096)
  await group.queue.run(group.record((r) => r.dispatch(kernel, { workgroups: 64, args: { x } })))
  const values = await group.queue.read(x)
  await group.destroy()
  expect(values.every((value, index) => value === index * index)).toBe(true)
}
