import { type Device, type DeviceBuffer, type DeviceGroup, elementArray } from '@tandem-gpu/core'
import { characterOf } from '../../device-character.ts'
import { generatedElements } from '../../element-source.ts'
import { type Candidate, timeProgram, tune } from '../../tuning/tune.ts'
import { tuningKey } from '../../tuning/tuning-key.ts'
import type { TuningStore } from '../../tuning/tuning-store.ts'
import type { MatmulShape, MatmulType } from '../matmul-shape.ts'
import { compileMatmul, type MatmulBlocking } from '../single/matmul-kernels.ts'
import { recordPaddedMatmul } from '../single/record-matmul.ts'

/** Larger products are tuned with these sizes: the same kernel is fastest, and timing takes less time. */
const largestTuned: MatmulShape = { m: 8192, n: 16384, k: 32768 }

/**
 * Chooses among `candidates` (the shipped choice is the first) for the product that one device computes at a
 * time, m × n = (m × k) · (k × n). The choice comes from the store, or from timing each candidate on scratch
 * matrices of random elements on `device`. All candidates divide k into the same parts, so the bits of the
 * result do not depend on the choice. Returns `undefined` if nothing was measured, as on software adapters.
 */
export async function tuneMatmul(
  group: DeviceGroup,
  device: Device,
  type: MatmulType,
  shape: MatmulShape,
  candidates: readonly [MatmulBlocking, ...MatmulBlocking[]],
  options: { readonly tuning?: TuningStore | false | undefined; readonly signal?: AbortSignal | undefined },
): Promise<MatmulBlocking | undefined> {
  const [shipped] = candidates
  const m = Math.min(shape.m, largestTuned.m)
  const n = Math.min(shape.n, largestTuned.n)
  const k = Math.min(shape.k, largestTuned.k)
  if (!options.tuning || !characterOf(group).tunes || group.rankCount > 1 || m * n * k === 0) return undefined
  const named = candidates.map(
    (choice): Candidate<MatmulBlocking> => ({ name: blockingName(choice), choice }),
  )
  const key = tuningKey(
    { backend: group.backend, devices: [device] },
    {
      algorithm: 'matmul',
      version: 3,
      sizes: { m, n, k },
      traits: [type, `${shipped.parts} parts`],
    },
  )
  const buffers: DeviceBuffer<MatmulType>[] = []
  const scratch = async (rows: number, columns: number, label: string) => {
    // Rows start at multiples of four elements, as those of the real matrices do.
    const buffer = await device.allocate(type, [rows, Math.ceil(columns / 4) * 4], { label, zero: false })
    buffers.push(buffer)
    return buffer
  }
  const allocate = async () => {
    const [a, b, c] = [await scratch(m, k, 'A'), await scratch(k, n, 'B'), await scratch(m, n, 'C')]
    for (const buffer of [a, b]) await fillRandom(group, buffer)
    return [a, b, c] as const
  }
  let matrices: ReturnType<typeof allocate> | undefined
  try {
    const best = await tune(options.tuning, key, [named[0]!, ...named.slice(1)], async (blocking, limit) => {
      matrices ??= allocate()
      const [a, b, c] = await matrices
      const kernels = await compileMatmul(group, type, blocking)
      try {
        const program = group.record(
          (recorder) => recordPaddedMatmul(recorder, kernels, a, b, c, { device }),
          { label: 'matmul, tuning' },
        )
        try {
          return await timeProgram(group, program, limit, options.signal)
        } finally {
          program.destroy()
        }
      } finally {
        kernels.destroy()
      }
    })
    return best?.choice
  } finally {
    for (const buffer of buffers) buffer.destroy()
  }
}

/** The name in the store. It contains all fields, so that no two candidates share a name. */
export function blockingName(blocking: MatmulBlocking): string {
  return Object.entries(blocking)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

/**
 * Writes one block of random elements from the host and doubles it on the device until the buffer is full.
 */
async function fillRandom(group: DeviceGroup, buffer: DeviceBuffer<MatmulType>): Promise<void> {
  const flat = buffer.slice(0, buffer.length)
  let filled = Math.min(flat.length, 1_048_576)
  const block = elementArray(buffer.type, filled)
  await generatedElements(buffer.type)(0, block)
  await group.queue.write(flat.slice(0, filled), block)
  const program = group.record((recorder) => {
    while (filled < flat.length) {
      const length = Math.min(filled, flat.length - filled)
      recorder.copy(flat.slice(0, length), flat.slice(filled, length))
      filled += length
    }
  })
  await group.queue.run(program)
  program.destroy()
}
