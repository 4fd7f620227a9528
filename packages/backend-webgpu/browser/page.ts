import { jacobi, matmul, type Report, reduce, transpose } from '@tandem-gpu/algorithms'
import { webgpu } from '@tandem-gpu/backend-webgpu'
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'

async function report(run: (group: DeviceGroup) => Promise<Report>) {
  const group = await openGroup({ backends: [webgpu()], devices: 3 })
  const { algorithm, backend, devices, verified, verification } = await run(group)
  // Kernels may stay compiled for the group's next call; memory and programs may not.
  const { leaks } = await group.destroy()
  return { algorithm, backend, devices, verified, verification, leaks: leaks.length }
}

/** One entry per test; each opens a group of its own and returns plain data. */
const jobs = {
  async dispatch() {
    const group = await openGroup({ backends: [webgpu()], devices: 2 })
    const kernel = await group.compile({
      wgsl: /* wgsl */ `
        @group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
          if (id.x < arrayLength(&x)) { x[id.x] = id.x * id.x; }
        }`,
    })
    const [first, second] = group.devices
    const x = await first!.allocate('u32', 1000)
    const y = await second!.allocate('u32', 1000)
    const program = group.record((r) => {
      r.dispatch(kernel, { workgroups: 16, args: { x } })
      r.copy(x, y)
    })
    await group.queue.run(program)
    const values = [...(await group.queue.read(y))]
    const { spans = [] } = await group.queue.run(program, 2, { profile: true })
    const { backend, software } = group
    program.destroy()
    kernel.destroy()
    x.destroy()
    y.destroy()
    const { leaks } = await group.destroy()
    const kinds = spans.map(({ kind, repetition }) => `${kind} ${repetition}`)
    return { backend, software, values, kinds, leaks: leaks.length }
  },
  transpose: () => report((group) => transpose(group, { rows: 100, columns: 77, type: 'f32' })),
  matmul: () => report((group) => matmul(group, { m: 70, k: 33, n: 41 })),
  matmulStreamed: () => report((group) => matmul(group, { m: 70, k: 33, n: 41, streamWidth: 16 })),
  jacobi: () =>
    report((group) => jacobi(group, { rows: 65, columns: 33, iterations: 50, residualEvery: 10 })),
  reduce: () => report((group) => reduce(group, { elements: 100_001, type: 'f32' })),
}

export type Jobs = typeof jobs

Object.assign(globalThis, { jobs })
