// Functions of the caller that give and take elements: they may use the group, and whatever they do, nothing
// waits forever.
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { jacobi, matmul, reduce, transpose } from './index.ts'
import { ringMatmul } from './ring/ring-matmul.ts'
import { describeOnBackends } from './testing-groups.ts'

type Move = (offset: number, elements: { fill(value: number): unknown }) => Promise<void>
interface Moves {
  readonly source: Move
  readonly sink: Move
  readonly signal?: AbortSignal
}

const product = { m: 33, k: 17, n: 20 }
/** Every way in which elements come from functions, and go to them. */
const algorithms: Readonly<
  Record<string, (group: DeviceGroup, moves: Moves) => Promise<{ readonly verified: boolean | undefined }>>
> = {
  transpose: (group, { source, sink, ...rest }) =>
    transpose(group, { rows: 9, columns: 7, type: 'f32', input: source, output: sink, ...rest }),
  'reduce (no sink)': (group, { source, sink: _, ...rest }) =>
    reduce(group, { elements: 1001, type: 'i32', input: source, ...rest }),
  'reduce with uploads (no sink)': (group, { source, sink: _, ...rest }) =>
    reduce(group, { elements: 1001, type: 'i32', input: source, timeUploads: true, ...rest }),
  'matmul, resident': (group, { source, sink, ...rest }) =>
    matmul(group, { ...product, mode: 'resident', a: source, b: source, output: sink, ...rest }),
  'matmul, streamed': (group, { source, sink, ...rest }) =>
    matmul(group, { ...product, mode: 'streamed', a: source, b: source, output: sink, ...rest }),
  'matmul of f16': (group, { source, sink, ...rest }) =>
    matmul(group, { ...product, type: 'f16', a: source, b: source, output: sink, ...rest }),
  'ring product': (group, { source, sink, ...rest }) =>
    ringMatmul(group, { ...product, a: source, b: source, output: sink, ...rest }),
  jacobi: (group, { source, sink, ...rest }) =>
    jacobi(group, {
      rows: 9,
      columns: 7,
      iterations: 4,
      input: source,
      source,
      output: sink,
      ...rest,
    }),
}

const cases = Object.entries(algorithms)
const fill: Move = async (_, elements) => void elements.fill(1)
const take: Move = async () => {}
const never: Move = () => new Promise(() => {})

describeOnBackends('functions that move elements', (backend) => {
  it.each(cases)('may use the group meanwhile: %s', async (_, run) => {
    const group = await backend.group(2)
    const other = await group.devices[0]!.allocate('u32', 4)
    const program = group.record((r) => r.fill(other, 7))
    const busy: Move = async (offset, elements) => {
      await group.queue.run(program)
      await group.queue.read(other)
      await fill(offset, elements)
    }
    const { verified } = await run(group, { source: busy, sink: () => busy(0, { fill() {} }) })
    expect(verified).toBe(true)
    program.destroy()
    other.destroy()
  })

  it('have arrays over memory that threads share beside them', async () => {
    const group = await backend.group(2)
    const [input, output] = [0, 1].map(() => new Float32Array(new SharedArrayBuffer(4 * 63)))
    for (let i = 0; i < 63; i++) input![i] = i
    const shape = { rows: 9, columns: 7, type: 'f32' } as const
    const { verified } = await transpose(group, { ...shape, input: input as never, output: output as never })
    expect([verified, output![1], output![9]]).toEqual([true, 7, 1])
  })

  it.each(cases)('that never settle end with the signal: %s', async (name, run) => {
    const group = await backend.group(2)
    for (const stuck of name.includes('no sink') ? ['source'] : ['source', 'sink']) {
      const ending = new AbortController()
      const move: Move = (...args) => {
        queueMicrotask(() => ending.abort(new Error('enough')))
        return never(...args)
      }
      const moves = stuck === 'source' ? { source: move, sink: take } : { source: fill, sink: move }
      await expect(run(group, { ...moves, signal: ending.signal })).rejects.toMatchObject({
        code: 'aborted',
        message: expect.stringMatching(/stopped moving elements/),
        cause: new Error('enough'),
      })
    }
    // The group is as good as before.
    expect((await run(group, { source: fill, sink: take })).verified).toBe(true)
  })
})

it.each(cases)(
  'a function that destroys the group and waits for it ends the algorithm: %s',
  async (_, run) => {
    const group = await openGroup({ backends: [referenceBackend()], devices: 2 })
    const destroying: Move = async () => void (await group.destroy())
    await expect(run(group, { source: destroying, sink: take })).rejects.toMatchObject({
      code: 'device-lost',
    })
    expect(Object.values(group.live()).every((count) => count === 0)).toBe(true)
  },
)
