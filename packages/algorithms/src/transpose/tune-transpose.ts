import type { DeviceGroup, ElementType } from '@tandem-gpu/core'
import { characterOf } from '../device-character.ts'
import type { ShardedMatrix } from '../sharded-matrix.ts'
import { type Candidate, timeProgram, tune } from '../tuning/tune.ts'
import { tuningKey } from '../tuning/tuning-key.ts'
import type { TuningStore } from '../tuning/tuning-store.ts'
import { type RecordTransposeOptions, recordTranspose, type TileTransport } from './record-transpose.ts'
import {
  compileTranspose,
  defaultVariant,
  scattersByDefault,
  type TransposeKernel,
  type TransposeVariant,
} from './transpose-kernels.ts'

/**
 * One of the candidates that tuning measures. Pairs of devices without peer access copy, whatever the choice.
 */
export interface TransposeChoice {
  readonly variant: TransposeVariant
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
  const variant = defaultVariant(group)
  if (group.devices.length === 1)
    return [
      { name: variant, choice: { variant, transport: 'direct' } },
      { name: 'square', choice: { variant: 'square', transport: 'direct' } },
    ]
  const kernels = (['direct', 'scatter'] as const).map((transport) => ({
    name: transport,
    choice: { variant, transport },
  }))
  if (scattersByDefault(group)) kernels.reverse()
  const all: Candidate<TransposeChoice>[] = [
    ...kernels,
    { name: 'copy', choice: { variant, transport: 'copy' } },
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

/** Compiles the kernels for `choice`. */
export function compileChoice(
  group: DeviceGroup,
  type: ElementType,
  { variant, transport }: TransposeChoice,
): Promise<TransposeKernel> {
  return compileTranspose(group, type, variant, transport === 'scatter')
}

/** Options of `recordTranspose` for `choice`, except the kernel and the matrices. */
export function choiceOptions({
  transport,
}: TransposeChoice): Pick<RecordTransposeOptions<ElementType>, 'chooseTransport'> {
  return { chooseTransport: () => transport }
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
  options: {
    readonly tuning?: TuningStore | false | undefined
    readonly transport?: TileTransport | 'auto' | undefined
    readonly signal?: AbortSignal | undefined
  },
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
  return tune(
    characterOf(group).tunes && !empty ? options.tuning : false,
    key,
    transposeCandidates(group, transport),
    async (choice, limit) => {
      const kernel = await compileChoice(group, type, choice)
      try {
        const program = group.record(
          (recorder) =>
            void recordTranspose(recorder, group, { kernel, input, output, ...choiceOptions(choice) }),
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
}
