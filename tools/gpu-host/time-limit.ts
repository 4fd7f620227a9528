/*
 * Proves on a GPU that a kernel which never ends, and cannot be left, takes nothing but its own process with it: `run({ timeoutSeconds })` rejects, the group is
 * lost, `destroy()` and the end of the process take at most two seconds each, and another process then computes on the same GPUs.
 *
 *   node tools/gpu-host/time-limit.ts [DEVICES, default 1]
 *
 * Prints one line of JSON a way of ending, and exits with 1 where something is wrong.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cuda } from '@tandem-gpu/backend-cuda'
import { openGroup } from '@tandem-gpu/core'

const [devices = '1', ending] = process.argv.slice(2)
const self = fileURLToPath(import.meta.url)
const mostMilliseconds = 2000

if (ending !== undefined) await endless()
else process.exitCode = await prove()

/** In a process of its own: prints what it saw, and then ends as `ending` says. */
async function endless(): Promise<void> {
  const group = await openGroup({ backends: [cuda()], devices: Number(devices), virtual: true })
  // The rounds of a subgroup differ in a kernel with subgroup matrices: such a loop cannot be left.
  const kernel = await group.compile({
    wgsl: `
      enable f16;
      enable chromium_experimental_subgroup_matrix;
      @group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
      var<workgroup> tile: array<f16, 256>;
      @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
        let matrix = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile, 0u, 16u);
        loop { if (atomicLoad(&x[0]) == 7u + i) { break; } }
      }`,
  })
  const buffers = await Promise.all(group.devices.map((device) => device.allocate('u32', 1)))
  const program = group.record((r) => {
    for (const x of buffers) r.dispatch(kernel, { workgroups: 1, args: { x } })
  })
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => 'none',
      (error: { code?: string }) => error.code,
    )
  const running = code(group.queue.run(program, 3, { timeoutSeconds: 1 }))
  const pending = code(group.queue.read(buffers[0]!))
  const codes = [await running, await pending, await code(group.queue.run(program))]
  const before = performance.now()
  await group.destroy()
  const destroyMilliseconds = Math.round(performance.now() - before)
  console.log(JSON.stringify({ codes, destroyMilliseconds }))
  if (ending === 'exit') process.exit(0)
  if (ending === 'SIGTERM') setInterval(() => {}, 1000)
}

async function prove(): Promise<number> {
  let wrong = 0
  for (const how of ['itself', 'exit', 'SIGTERM']) {
    const child = spawn(process.execPath, [self, devices, how], { stdio: ['ignore', 'pipe', 'inherit'] })
    const guard = setTimeout(() => child.kill('SIGKILL'), 60_000)
    let output = ''
    let told = 0
    child.stdout.on('data', (text) => {
      output += text
      told = performance.now()
      if (how === 'SIGTERM') child.kill('SIGTERM')
    })
    const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
    clearTimeout(guard)
    const endMilliseconds = Math.round(performance.now() - told)
    const { codes, destroyMilliseconds } = JSON.parse(output || '{}')
    const right =
      String(codes) === 'timeout,device-lost,device-lost' &&
      destroyMilliseconds <= mostMilliseconds &&
      endMilliseconds <= mostMilliseconds &&
      signal === (how === 'SIGTERM' ? 'SIGTERM' : null)
    const afterwards = await computes()
    if (!right || !afterwards) wrong++
    console.log(
      JSON.stringify({ ends: how, codes, destroyMilliseconds, endMilliseconds, signal, afterwards, right }),
    )
  }
  return wrong === 0 ? 0 : 1
}

/** Does this process, which is not the one that hung, compute on the same GPUs? */
async function computes(): Promise<boolean> {
  const group = await openGroup({ backends: [cuda()], devices: Number(devices), virtual: true })
  const kernel = await group.compile({
    wgsl: `
      @group(0) @binding(0) var<storage, read_write> x: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { x[id.x] = id.x * id.x; }`,
  })
  const x = await group.devices.at(-1)!.allocate('u32', 4096)
  await group.queue.run(group.record((r) => r.dispatch(kernel, { workgroups: 64, args: { x } })))
  const values = await group.queue.read(x)
  await group.destroy()
  return values.every((value, index) => value === index * index)
}
