// What a time limit does on the reference executor, which holds JavaScript's thread while a kernel runs.
import { expect, it } from 'vitest'
import { openGroup } from '../group/group.ts'
import { referenceBackend } from '../testing/reference-backend.ts'

const bodies = {
  'a loop': 'while (params.n != 0u) { x[i] += 1u; }',
  'a loop with barriers': 'while (params.n != 0u) { x[i] += 1u; workgroupBarrier(); }',
  'a function': 'if (params.n != 0u) { x[i] = hash(0u); }',
}

it.each(Object.entries(bodies))('ends %s that has no end, and the group goes on', async (_, body) => {
  const group = await openGroup({ backends: [referenceBackend()] })
  const kernel = await group.compile({
    wgsl: `struct Params { n: u32 }
      @group(0) @binding(0) var<uniform> params: Params;
      @group(0) @binding(1) var<storage, read_write> x: array<u32>;
      fn hash(x: u32) -> u32 { var s = x; while (s != 1u) { s = select(3u * s + 1u, s / 2u, s % 2u == 0u); } return s; }
      @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { ${body} x[i] += 5u; }`,
  })
  const x = await group.devices[0]!.allocate('u32', 8)
  const program = group.record((r) =>
    r.dispatch(kernel, { workgroups: 1, args: { x, n: r.parameter('n', 'u32', 1) } }),
  )
  const running = group.queue.run(program, 3, { timeoutSeconds: 0.05 })
  await expect(running).rejects.toMatchObject({
    code: 'timeout',
    message:
      'Program "program 0" ran longer than its limit of 0.05 s. It was stopped, and the memory it writes is undefined.',
  })
  await group.queue.write(x, new Uint32Array(8))
  await group.queue.run(program, 2, { parameters: { n: 0 }, timeoutSeconds: 600 })
  expect([...(await group.queue.read(x))]).toEqual(Array(8).fill(10))
  program.destroy()
  kernel.destroy()
  x.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})
