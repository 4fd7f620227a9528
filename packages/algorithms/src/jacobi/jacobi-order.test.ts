import { type HostView, openGroup } from '@tandem-gpu/core'
import { expectEveryEdgeToMatter, referenceBackend } from '@tandem-gpu/core/testing'
import { describe, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { referenceJacobiF32 } from '../testing/reference-jacobi-f32.ts'
import { allocateField, gatherState, writeState } from './jacobi-field.ts'
import { compileJacobi } from './jacobi-kernels.ts'
import { recordSweeps } from './record-jacobi.ts'

describe('the order of Jacobi sweeps', () => {
  it.each([
    { transport: 'copy', devices: 4, decomposition: '2d', sweeps: 2 },
    { transport: 'copy', devices: 3, decomposition: '2d', sweeps: 2 },
    { transport: 'copy', devices: 3, decomposition: '1d', sweeps: 2 },
    { transport: 'direct', devices: 4, decomposition: '2d', sweeps: 2 },
    { transport: 'copy', devices: 2, decomposition: '1d', sweeps: 8 },
  ] as const)(
    'needs every edge: $transport, $devices devices, $decomposition, $sweeps sweeps',
    async (options) => {
      const { transport, devices, decomposition, sweeps } = options
      // Eight sweeps are two fused passes.
      const fuse = sweeps === 8
      const backend = referenceBackend({ peerAccess: transport === 'direct' })
      const group = await openGroup({ backends: [backend], devices })
      const [rows, columns] = [fuse ? 10 : 14, 18]
      const kernels = await compileJacobi(group, { transport, source: false, fuse })
      const field = await allocateField(group, rows, columns, decomposition, {
        source: false,
        columnHalos: transport === 'copy',
        haloRows: fuse ? 4 : 1,
      })
      const state = new Float32Array(rows * columns)
      generatedElements('f32')(0, state)
      const count = field.blocks.length
      const host = group.allocateHost('u32', count)
      const residuals = new Map<number, HostView<'u32'>>([[sweeps, host.slice(0, count)]])
      const program = group.record((r) => recordSweeps(r, field, kernels, { sweeps, parity: 0, residuals }))
      // The barriers of fused sweeps are slow on the CPU executor.
      const repetitions = fuse ? 2 : 3
      const before = referenceJacobiF32({ rows, columns }, state, sweeps * repetitions - 1)
      const expected = referenceJacobiF32({ rows, columns }, state, sweeps * repetitions)
      const changes = field.blocks.map((block) => {
        let most = 0
        for (let row = block.row + 1; row <= block.row + block.rows; row++)
          for (let column = block.column + 1; column <= block.column + block.columns; column++) {
            const at = row * columns + column
            most = Math.max(most, Math.fround(Math.abs(expected[at]! - before[at]!)))
          }
        return most
      })
      await expectEveryEdgeToMatter(
        backend,
        program,
        async () => {
          await writeState(field, state)
          host.array.fill(0)
          await group.queue.run(program, repetitions)
          const found = await gatherState(field, 0, state)
          return (
            Buffer.compare(Buffer.from(found.buffer), Buffer.from(expected.buffer)) === 0 &&
            new Float32Array(host.array.buffer, host.array.byteOffset, count).every(
              (value, index) => value === changes[index],
            )
          )
        },
        { seeds: fuse ? 3 : 12 },
      )
      host.destroy()
      await group.destroy()
    },
  )
})
