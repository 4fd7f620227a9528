import { openGroup, type Recorder } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { referenceJacobiF32 } from '../testing/reference-jacobi-f32.ts'
import { allocateField, gatherState, writeState } from './jacobi-field.ts'
import { compileJacobi } from './jacobi-kernels.ts'
import { recordSweeps } from './record-jacobi.ts'

const copied = { transport: 'copy', source: false } as const
const packed = { source: false, columnHalos: true } as const
const twice = { sweeps: 2, parity: 0 } as const

it.each([
  [
    'fused kernels on blocks side by side',
    {
      kernels: { ...copied, fuse: true },
      field: { ...packed, haloRows: 4 },
      decomposition: '2d',
      sweeps: twice,
    },
    'Kernels that fuse sweeps need blocks in one column; the field has 2 columns of blocks.',
  ],
  [
    'too few rows of halo',
    { kernels: { ...copied, fuse: true }, field: packed, decomposition: '1d', sweeps: twice },
    'The kernels need 4 halo rows, but the field has 1: allocate it with haloRows 4.',
  ],
  [
    'columns that nothing packs',
    { kernels: copied, field: { source: false, columnHalos: false }, decomposition: '2d', sweeps: twice },
    'The kernels send columns, but block 1 of the field has no packed columns: allocate it with columnHalos true.',
  ],
  [
    'no number of sweeps',
    { kernels: copied, field: packed, decomposition: '1d', sweeps: { sweeps: Number.NaN, parity: 0 } },
    'The number of sweeps is NaN; it must be a whole number of at least 0.',
  ],
  [
    'a copy that does not exist',
    { kernels: copied, field: packed, decomposition: '1d', sweeps: { sweeps: 2, parity: 2 as 0 } },
    'The parity of the sweeps is 2; it must be 0 or 1.',
  ],
] as const)('recordSweeps refuses %s', async (_, { kernels, field, decomposition, sweeps }, message) => {
  const group = await openGroup({ backends: [referenceBackend()], devices: 4 })
  const compiled = await compileJacobi(group, kernels)
  const allocated = await allocateField(group, 18, 34, decomposition, field)
  expect(() => group.record((r) => recordSweeps(r, allocated, compiled, sweeps))).toThrow(
    expect.objectContaining({ code: 'validation', message }),
  )
  for (const resource of [compiled, allocated]) resource.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

it.each([
  ['1d', false, 1],
  ['1d', true, 1],
  ['2d', false, 4],
] as const)(
  'halo rows of %s blocks (fused sweeps: %s) are copied as %i rows of bytes',
  async (decomposition, fuse, pieces) => {
    const group = await openGroup({ backends: [referenceBackend()], devices: 4 })
    const kernels = await compileJacobi(group, { ...copied, fuse })
    const field = await allocateField(group, 34, 34, decomposition, { ...packed, haloRows: 4 })
    const program = group.record((r) => recordSweeps(r, field, kernels, { sweeps: 8, parity: 0 }))
    const rows = program.plan.commands.flatMap((command) =>
      command.kind === 'copy' && command.label === 'halo row'
        ? [command.source.rows, command.target.rows]
        : [],
    )
    expect(new Set(rows)).toEqual(new Set([pieces]))
    for (const resource of [program, kernels, field]) resource.destroy()
    expect(await group.destroy()).toEqual({ leaks: [] })
  },
)

it('fused sweeps give the bits of the reference in strips of any number of rows', async () => {
  const [rows, columns] = [24, 18]
  const group = await openGroup({ backends: [referenceBackend()], devices: 2 })
  const kernels = await compileJacobi(group, { ...copied, fuse: true })
  const field = await allocateField(group, rows, columns, '1d', { ...packed, haloRows: 4 })
  const state = new Float32Array(rows * columns)
  generatedElements('f32')(0, state)
  const expected = referenceJacobiF32({ rows, columns }, state, 8)
  // Each block has 11 rows.
  for (const strip of [1, 3, 5, 10, 11, 128]) {
    await writeState(field, state)
    const program = group.record((r) =>
      recordSweeps(withStrips(r, strip), field, kernels, { sweeps: 8, parity: 0 }),
    )
    const strips = program.plan.commands.flatMap((c) => (c.kind === 'dispatch' ? [c.workgroups[1]] : []))
    expect(strips).toEqual(Array.from({ length: 4 }, () => Math.ceil(11 / strip)))
    await group.queue.run(program)
    expect(await gatherState(field, 0, state)).toEqual(expected)
    program.destroy()
  }
  for (const resource of [kernels, field]) resource.destroy()
  await group.destroy()
})

/** Records fused sweeps in strips of `strip` rows, regardless of what suits the block. */
function withStrips(recorder: Recorder, strip: number): Recorder {
  const dispatch: Recorder['dispatch'] = (kernel, options) => {
    const { rows } = options.args as unknown as { readonly rows: number }
    recorder.dispatch(kernel, {
      ...options,
      workgroups: [1, Math.ceil(rows / strip)],
      args: { ...options.args, strip },
    })
  }
  return new Proxy(recorder, {
    get: (target, name) => {
      const value = name === 'dispatch' ? dispatch : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
