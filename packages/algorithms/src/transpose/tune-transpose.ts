import type { DeviceGroup, ElementType } from '@tandem-gpu/core'
import type { AlgorithmOptions } from '../algorithm-options.ts'
import { characterOf } from '../device-character.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import { type Candidate, timeProgram, tune } from '../tuning/tune.ts'
import { tuningKey } from '../tuning/tuning-key.ts'
import type { TuningOptions } from '../tuning/tuning-store.ts'
import { type RecordTransposeOptions, recordTranspose, type TileTransport } from './record-transpose.ts'
import {
  type CompileTransposeOptions,
  compileTranspose,
  defaultVariant,
  scattersByDefault,
  type TransposeVariant,
} from './transpose-kernels.ts'

/**
 * One of the candidates that tuning measures. Pairs of devices without peer access copy, whatever the choice.
 */
export interface TransposeChoice {
  readonly kernel: TransposeVariant
  readonly transport: TileTransport
}

/**
 * The candidates, with the shipped choice first. If `transport` is given, only candidates with that
 * transport.
 */
export function transposeCandidates(
  group: DeviceGroup,
  transport: TileTransport | 'auto' = 'auto',
): readonly [Candidate<TransposeChoice>, ...Candidate<TransposeChoice>[]] {
  const kernel = defaultVariant(group)
  if (group.devices.length === 1)
    return [
      { name: kernel, choice: { kernel, transport: 'direct' } },
      { name: 'square', choice: { kernel: 'square', transport: 'direct' } },
    ]
  const kernels = (['direct', 'scatter'] as const).map((transport) => ({
    name: transport,
    choice: { kernel, transport },
  }))
  if (scattersByDefault(group)) kernels.reverse()
  const all: Candidate<TransposeChoice>[] = [
    ...kernels,
    { name: 'copy', choice: { kernel, transport: 'copy' } },
  ]
  const reachable = group.devices.some((reader) =>
    group.devices.some((owner) => reader !== owner && group.canAccessPeer(reader, owner)),
  )
  const [first, ...others] = all.filter(
    ({ choice }) =>
      (reachable || choice.transport === 'copy') && (transport === 'auto' || choice.transport === transport),
  )
  // Recording rejects a transport that no pair of devices can use.
  return [
    first ?? all.find(({ choice }) => transport === 'auto' || choice.transport === transport)!,
    ...others,
  ]
}

/** Options of `compileTranspose` and `recordTranspose` for `choice`. */
export function choiceOptions({ kernel, transport }: TransposeChoice) {
  return { kernel, scatter: transport === 'scatter', chooseTransport: () => transport }
}

/**
 * Chooses how to transpose `input` into `output`: from the store, or by timing the candidates with the
 * overlapped schedule on the two matrices, after which `output` is the transpose. Both schedules use the same
 * choice, so that they differ in nothing else. A software adapter uses the shipped choice, since its times do
 * not apply to other devices.
 */
export async function tuneTranspose<T extends ElementType>(
  group: DeviceGroup,
  input: ShardedMatrix<T>,
  output: ShardedMatrix<T>,
  options: TuningOptions &
    Pick<AlgorithmOptions, 'signal'> &
    Omit<CompileTransposeOptions, 'type'> &
    Omit<RecordTransposeOptions<T>, 'kernel' | 'input' | 'output'>,
): Promise<Candidate<TransposeChoice>> {
  const { transport = 'auto', signal } = options
  const { type, rows, columns } = input
  const key = tuningKey(group, {
    algorithm: 'transpose',
    version: 2,
    traits: [type, transport],
    sizes: { rows, columns },
  })
  const empty = rows * columns === 0
  const candidates = transposeCandidates(group, transport)
  const measured = await tune(
    characterOf(group).tunes && !empty ? options.tuning : false,
    key,
    candidates,
    async (choice, limit) => {
      const chosen = { ...options, ...choiceOptions(choice) }
      const kernel = await compileTranspose(group, { ...chosen, type })
      try {
        const program = group.record(
          (recorder) => void recordTranspose(recorder, group, { ...chosen, kernel, input, output }),
          { label: `transpose ${rows} × ${columns}, tuning` },
        )
        try {
          return await timeProgram(group, program, limit, signal)
        } finally {
          program.destroy()
        }
      } finally {
        kernel.destroy()
      }
    },
  )
  return measured ?? candidates[0]
}
