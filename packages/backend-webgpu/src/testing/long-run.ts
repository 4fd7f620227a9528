/**
 * A separate program that runs a kernel far beyond its time limit. Prints the outcome of each call, then ends
 * in the way that `process.argv[2]` selects.
 */
import { openGroup } from '@tandem-gpu/core'
import { webgpu } from '../index.ts'

const group = await openGroup({ backends: [webgpu()], devices: 2, virtual: true })
const kernel = await group.compile({
  wgsl: `
    @group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
    @compute @workgroup_size(1) fn main() { loop { if (atomicAdd(&x[0], 1u) == 4000000000u) { break; } } }`,
})
const x = await group.devices[0]!.allocate('u32', 1)
const program = group.record((r) => r.dispatch(kernel, { workgroups: 1, args: { x } }))
const code = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'none',
    (error: { code?: unknown }) => error.code ?? String(error),
  )
const running = code(group.queue.run(program, 3, { timeoutSeconds: 0.3 }))
const pending = code(group.queue.read(x))
// The time limit of a run that never begins does not keep the process alive.
const behind = code(group.queue.run(program, 1, { timeoutSeconds: 600 }))
const codes = [await running, await pending, await behind, await code(group.queue.run(program))]
const { leaks } = await group.destroy()
console.log(JSON.stringify({ codes, leaks: leaks.length }))
if (process.argv[2] === 'exit') process.exit(0)
if (process.argv[2] === 'SIGTERM') setInterval(() => {}, 1000)
