// Messages between GPUs of several ranks, with a fake NCCL. Here, all ranks are in one process;
// @tandem-gpu/backend-mpi tests several processes.
import { isGpuError } from '@tandem-gpu/core'
import type { Handles, LinkedRuntime, PlanPart } from '@tandem-gpu/core/backend'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CudaOptions } from './cuda.ts'
import type { RecordedPlan } from './cuda-plan.ts'
import { type ConnectedRuntimes, openConnectedRuntimes } from './testing/connected-runtimes.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'
import { plan, region } from './testing/plan-text.ts'

const opened: LinkedRuntime<Handles, PlanPart>[] = []

beforeEach(() => configureFake({ FAKE_CUDA_DEVICES: 3 }))
afterEach(async () => {
  configureFake()
  for (const runtime of opened.splice(0)) expect(await runtime.dispose()).toEqual([])
})

function runtimesOf(connected: ConnectedRuntimes): LinkedRuntime<Handles, PlanPart>[] {
  const runtimes = connected.opened.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
  opened.push(...runtimes)
  return runtimes
}

async function reasons(gpuOf: readonly (readonly number[])[], optionsOf?: (rank: number) => CudaOptions) {
  const { opened } = await openConnectedRuntimes(gpuOf, optionsOf)
  return opened.map((one) =>
    one.status === 'rejected' ? `${one.reason.code}: ${one.reason.message}` : 'opened',
  )
}

/** Longer than the fake NCCL's buffer between a sender and a receiver. */
const rowWords = 500
const rowByteLength = rowWords * 4
const rows = 6

/**
 * Each rank sends what it has to the next one, as rows with gaps, and takes what comes as one block, through
 * its host memory where it has an odd rank; then what has come is what it has. A rank has as many commands
 * more as its number, so that the ranks' graphs differ.
 */
async function ring(runtimes: readonly LinkedRuntime<Handles, PlanPart>[]) {
  const count = runtimes.length
  return Promise.all(
    runtimes.map(async (runtime, rank) => {
      const stride = rowByteLength + 64
      const own = await runtime.allocate(0, rows * stride, { label: 'own', zero: true })
      const come = await runtime.allocate(0, rows * rowByteLength, { label: 'come', zero: true })
      const host = runtime.allocateHost(rows * rowByteLength)
      const withGaps = region(0, 0, rowByteLength, rows, stride)
      const block = region(1, 0, rowByteLength, rows)
      const hostBlock = region(2, 0, rowByteLength, rows)
      const message = { device: 0, program: 0, ordinal: 0 }
      const byHost = rank % 2 === 1
      const recorded = plan(
        [own, come, host] as unknown as Parameters<typeof plan>[0],
        [],
      ) as RecordedPlan<PlanPart>
      const parts = [
        {
          ...message,
          kind: 'send',
          peer: (rank + 1) % count,
          region: withGaps,
          after: [],
          afterPrevious: [2],
        },
        {
          ...message,
          kind: 'receive',
          peer: (rank + count - 1) % count,
          region: byHost ? hostBlock : block,
          after: [],
          afterPrevious: [2],
        },
        {
          device: 0,
          kind: 'copy',
          source: byHost ? hostBlock : block,
          target: withGaps,
          after: [0, 1],
          afterPrevious: [],
        },
        ...Array.from({ length: rank }, () => ({
          device: 0,
          kind: 'fill',
          target: region(0, rowByteLength, 4),
          pattern: rank,
          patternByteLength: 4,
          after: [2],
          afterPrevious: [0],
        })),
      ]
      const executable = await runtime.instantiate({
        ...recorded,
        commands: parts.map((part, index) => ({ ...part, index, label: `part ${index}` }) as PlanPart),
      })
      const first = { allocation: own, byteOffset: 0, rowByteLength, rows, rowByteStride: stride }
      const words = Uint32Array.from({ length: rows * rowWords }, (_, index) => rank * 10_000 + index)
      await runtime.write(first, new Uint8Array(words.buffer))
      return {
        connect: (times: number) => runtime.connect(executable, { times }),
        async run(times: number, profile = false) {
          expect(await runtime.connect(executable, { times, profile })).toBe(true)
          return runtime.run(executable, { times, profile })
        },
        async read() {
          const bytes = new Uint8Array(rows * rowByteLength)
          await runtime.read(first, bytes)
          return [...new Uint32Array(bytes.buffer)]
        },
      }
    }),
  )
}

it.each([1, 2, 3])(
  'go round the ranks in every repetition, as graphs of the same lengths repeat them: %i ranks',
  async (count) => {
    const runtimes = runtimesOf(
      await openConnectedRuntimes(Array.from({ length: count }, (_, rank) => [rank])),
    )
    const sides = await ring(runtimes)
    let turns = 0
    for (const times of [1, 7, 200]) {
      await Promise.all(sides.map((side) => side.run(times)))
      turns += times
      const found = await Promise.all(sides.map((side) => side.read()))
      for (const [rank, values] of found.entries())
        expect(values).toEqual(
          Array.from(
            { length: rows * rowWords },
            (_, index) => ((((rank - turns) % count) + count) % count) * 10_000 + index,
          ),
        )
    }
  },
)

it('are commands of their own in a profile', async () => {
  const [first, second] = await ring(runtimesOf(await openConnectedRuntimes([[0], [1]])))
  const [{ spans }] = await Promise.all([first!.run(3, true), second!.run(3, true)])
  expect([...new Set(spans!.map(({ command }) => command))].sort()).toEqual([0, 1, 2])
  for (const { repetition, startSeconds, endSeconds } of spans!) {
    expect(repetition).toBe(2)
    expect(endSeconds).toBeGreaterThanOrEqual(startSeconds)
  }
})

it.each([
  ['2.28.3', 22803, '0'],
  ['2.29.2', 22902, undefined],
] as const)(
  'leave NCCL %s without multicast memory, and without events between graphs',
  async (_, version, mixing) => {
    for (const name of ['NCCL_NVLS_ENABLE', 'NCCL_GRAPH_MIXING_SUPPORT']) delete process.env[name]
    configureFake({ FAKE_CUDA_DEVICES: 3, FAKE_NCCL_VERSION: version })
    // Separate lists make it load again.
    const libraries = { ...fakeLibraries(), nccl: [`/none/${version}`, ...fakeLibraries().nccl] }
    runtimesOf(await openConnectedRuntimes([[0], [1]], () => ({ libraries })))
    expect(process.env.NCCL_NVLS_ENABLE).toBe('0')
    expect(process.env.NCCL_GRAPH_MIXING_SUPPORT).toBe(mixing)
  },
)

/** Rank 0 runs alone until `act`; then its error. */
async function waitingAlone(act: (connected: ConnectedRuntimes) => void): Promise<string> {
  const connected = await openConnectedRuntimes([[0], [1]])
  const sides = await ring(runtimesOf(connected))
  await Promise.all(sides.map((side) => side.connect(5)))
  const first = sides[0]!.run(5)
  setTimeout(() => act(connected), 50)
  const error = await first.catch((reason: unknown) => reason)
  expect(isGpuError(error)).toBe(true)
  return isGpuError(error) ? `${error.code}: ${error.message}` : ''
}

describe('a rank that waits for another one', () => {
  it('ends when that cannot go on, and frees everything', async () => {
    expect(await waitingAlone((connected) => connected.break())).toMatch(
      /^device-lost: .*Another process cannot continue\./,
    )
  })

  it('ends when NCCL finds an error', async () => {
    expect(await waitingAlone(() => configureFake({ FAKE_CUDA_DEVICES: 3, FAKE_NCCL_STATE: 6 }))).toMatch(
      /^device-lost: .*Another process does not answer: ncclCommGetAsyncError returned remote process exited or there was a network error: the last line of its log\.$/,
    )
  })
})

describe('messages between GPUs are refused on all ranks', () => {
  it('if two ranks have the same GPU, or one rank has several', async () => {
    expect(await reasons([[0], [0]])).toEqual(
      Array(2).fill(
        expect.stringMatching(
          /^unsupported: Ranks 0 and 1 have the same GPU \(.*\), which can run only one process at a time\.$/,
        ),
      ),
    )
    expect(await reasons([[0], [1, 2]])).toEqual(
      Array(2).fill('unsupported: Rank 1 has several GPUs; each process may have only one.'),
    )
  })

  it('if NCCL is missing on one', async () => {
    const libraries = { ...fakeLibraries(), nccl: ['libnccl.so.2', '/nowhere/libnccl.so.2'] }
    const absent = { ...libraries, nccl: ['/nowhere/libnccl.so.2'] }
    const [first, second] = await reasons([[0], [1]], (rank) => (rank === 1 ? { libraries: absent } : {}))
    expect(first).toMatch(
      /^unsupported: Rank 1: .*NCCL cannot be loaded \(libnccl\.so\.2 is not in \/nowhere\)\. Install NVIDIA's package /,
    )
    expect(second).toMatch(/^unsupported: .*NCCL cannot be loaded/)
  })

  it('if NCCL is too old', async () => {
    configureFake({ FAKE_CUDA_DEVICES: 3, FAKE_NCCL_VERSION: 21602 })
    // Separate lists make it load again.
    const libraries = { ...fakeLibraries(), nccl: ['/none/old', ...fakeLibraries().nccl] }
    const refusal = expect.stringMatching(
      /NCCL at .* is version 2\.16\.2, but this package needs 2\.18\.0 or newer\. Install NVIDIA's package /,
    )
    expect(await reasons([[0], [1]], () => ({ libraries }))).toEqual([refusal, refusal])
  })

  it('if one cannot connect, for which the others do not wait', async () => {
    configureFake({ FAKE_CUDA_DEVICES: 3, FAKE_FAIL: 'ncclCommInitRankConfig:2:1' })
    const found = await reasons([[0], [1], [2]])
    const failed = found.findIndex((text) => !text.startsWith('driver: Rank '))
    const reason = 'ncclCommInitRankConfig returned error of the fake NCCL.'
    expect(found).toEqual(
      found.map((_, rank) =>
        rank === failed
          ? expect.stringMatching(new RegExp(`^driver: .*${reason}$`))
          : expect.stringMatching(new RegExp(`^driver: Rank ${failed}: .*${reason}$`)),
      ),
    )
  })
})
