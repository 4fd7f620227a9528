import { expect, it } from 'vitest'
import type { OpenedRuntime } from '../backend/runtime.ts'
import { openGroup } from '../group/group.ts'
import { observeRuntimes } from './observe-runtimes.ts'
import { openedOnce } from './opened-once.ts'
import { referenceBackend } from './reference-backend.ts'

const wgsl = `@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { x[id.x] += id.x + 1u; }`

/** The reference backend, and the runtimes that it has opened. */
function observed() {
  const opened: Pick<OpenedRuntime, 'live' | 'dispose'>[] = []
  const backend = observeRuntimes(referenceBackend({ devices: 1 }), (runtime) => opened.push(runtime))
  return { backend, opened }
}

it('groups of different numbers of devices, with and without peer access, share a runtime', async () => {
  const { backend, opened } = observed()
  for (const [devices, peerAccess] of [
    [3, true],
    [2, false],
    [1, true],
  ] as const) {
    const backends = [openedOnce(backend, { peerAccess })]
    const group = await openGroup({ backends, devices, virtual: true })
    expect(group.devices).toHaveLength(devices)
    expect(group.canAccessPeer(0, 0)).toBe(true)
    if (devices > 1) expect(group.canAccessPeer(1, 0)).toBe(peerAccess)
    const x = await group.devices.at(-1)!.allocate('u32', 4)
    const kernel = await group.compile({ wgsl })
    const program = group.record((r) => r.dispatch(kernel, { workgroups: 4, args: { x } }))
    await group.queue.run(program, 2)
    expect([...(await group.queue.read(x))]).toEqual([2, 4, 6, 8])
    expect(group.live()).toEqual({ allocations: 1, hostAllocations: 0, kernels: 1, executables: 1 })
    for (const resource of [program, kernel, x]) resource.destroy()
    expect(await group.destroy()).toEqual({ leaks: [] })
    expect(await group.lost).toMatchObject({ reason: 'destroyed' })
  }
  expect(opened).toHaveLength(1)
  expect(opened[0]!.live().allocations).toBe(0)
})

it('lists the objects that a runtime still has after its group has ended', async () => {
  const { backend } = observed()
  const once = openedOnce(backend)
  const runtime = await once.open((await once.adapters()).adapters)
  const allocation = await runtime.allocate(0, 16, { label: 'x', zero: true })
  expect(await runtime.dispose()).toEqual(['The group ends with live allocations: 1.'])
  runtime.free(allocation)
  expect(await runtime.dispose()).toEqual([])
})

it('opens another runtime if the first is lost or does not open', async () => {
  const { backend, opened } = observed()
  let refused = true
  const open: typeof backend.open = (...args) =>
    refused ? Promise.reject(new Error('refused')) : backend.open(...args)
  const once = openedOnce({ ...backend, open })
  await expect(openGroup({ backends: [once] })).rejects.toThrow('refused')
  refused = false
  const group = await openGroup({ backends: [once] })
  await opened[0]!.dispose()
  expect(await group.lost).toMatchObject({ reason: 'destroyed' })
  await openGroup({ backends: [once] }).then((other) => other.destroy())
  expect(opened).toHaveLength(2)
})
