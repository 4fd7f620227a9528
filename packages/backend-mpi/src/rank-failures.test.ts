// When a rank fails, its job ends, naming the rank or a reason, no process is left over, GPUs are as before,
// and the next job works. The fake driver runs the cases that concern memory which ranks map;
// TANDEM_TEST_BACKEND=cuda, on a machine with GPUs, runs all.
import { afterEach, describe, expect, it } from 'vitest'
import { openMpi, whereInstalled } from './testing/launchers.ts'
import { preloadedLibrary } from './testing/preloaded-library.ts'
import { gpuUse, heldSince, lineNaming, type RankJob, runRankJob, transportsOf } from './testing/rank-jobs.ts'

const onGpus = process.env.TANDEM_TEST_BACKEND === 'cuda'
const inner = onGpus ? 'cuda' : 'fake-gpus'
const before = onGpus ? gpuUse() : undefined
const ranks = before?.mebibytes.length ?? 2
const transports = onGpus && openMpi.installed ? await transportsOf(undefined, inner, ranks) : ['ipc']
let seed = 1

type Job = Partial<RankJob> & Pick<RankJob, 'transport' | 'role'>
const run = ({ environment, ...more }: Job) =>
  runRankJob({
    inner,
    ranks,
    seed: seed++,
    ...more,
    // The memory of the fake driver's devices, which is memory of the host.
    environment: { ...(!onGpus && { FAKE_CUDA_MEMORY: String(2 ** 26) }), ...environment },
  })
type Result = Awaited<ReturnType<typeof run>>

function expectRight({ exitCode, text, problems }: Result, size = ranks): void {
  const right = text.match(/^rank \d+: all results are right$/gm)?.length
  expect({ exitCode, right, problems }, text).toEqual({ exitCode: 0, right: size, problems: [] })
}

/** Expects that every rank refuses for this reason. */
function expectRefused({ text, problems }: Result, size: number, reason: RegExp): void {
  const refusals = text.match(/^rank \d+ ends: unsupported: .*$/gm)
  expect(problems).toEqual([])
  expect(refusals, text).toHaveLength(size)
  for (const refusal of refusals!) expect(refusal).toMatch(reason)
}

/** Expects that a disturbed job fails, and that the next one works. */
async function expectFailed({ exitCode, disturbed, text, problems }: Result, transport: string) {
  expect({ disturbed, problems }, text).toEqual({ disturbed: true, problems: [] })
  expect(exitCode).not.toBe(0)
  expectRight(await run({ transport, role: 'work', rounds: 2 }))
}

describe.skipIf(!openMpi.installed)(whereInstalled(openMpi), () => {
  afterEach(async () => expect(await heldSince(before)).toEqual([]))

  it.each(transports)(
    'a rank that is killed in the middle of a run ends the job, which names it, over %s',
    async (transport) => {
      let running = 0
      const result = await run({
        transport,
        role: 'endless',
        onLine(line, control) {
          if (/ is in the middle of a run$/.test(line) && ++running === ranks) control.kill(1)
        },
      })
      expect(lineNaming(1, result.text), result.text).toBeDefined()
      await expectFailed(result, transport)
    },
  )

  it.each(transports)(
    'every rank gets an error if the memory of one is exhausted, over %s',
    async (transport) => {
      const result = await run({ transport, role: 'exhaust' })
      expect(result.text.match(/^rank \d+ is refused memory: (Rank 1: )?Allocating .*$/gm)).toHaveLength(
        ranks,
      )
      expectRight(result)
    },
  )

  describe.skipIf(!onGpus)(
    onGpus ? 'real GPUs' : 'real GPUs (skipped: TANDEM_TEST_BACKEND is not cuda)',
    () => {
      it.each(transports)('two ranks on one GPU compute or refuse it, over %s', async (transport) => {
        const result = await run({
          transport,
          role: 'work',
          ranks: 2,
          environment: { CUDA_VISIBLE_DEVICES: '0' },
        })
        if (transport === 'ipc' || transport === 'nccl') expectRefused(result, 2, /have the same GPU/)
        else if (transport !== 'staged' && /ends: unsupported/.test(result.text))
          expectRefused(result, 2, /./)
        else expectRight(result, 2)
      })

      it.each(['ipc', 'auto'])(
        'if the driver maps no memory of other processes, ipc refuses and auto computes: %s',
        async (transport) => {
          const environment = { LD_PRELOAD: preloadedLibrary('native/test/refuse_ipc.c') }
          const result = await run({ transport, role: 'work', ranks: 2, environment })
          if (transport === 'ipc') expectRefused(result, 2, /cuIpcOpenMemHandle/)
          else expectRight(result, 2)
        },
      )

      it.each([
        // Before they join, ranks have no transport.
        ...[['staged', 'absent', /has waited 5 s for other ranks to join/] as const],
        ...transports.map((transport) => [transport, 'away', /has waited 5 s for rank 1 /] as const),
      ])(
        'the others name the rank for which they wait, over %s when rank 1 is %s',
        async (transport, role, sentence) => {
          let said = false
          const result = await run({
            transport,
            role,
            onLine(line, control) {
              if (said || !sentence.test(line)) return
              said = true
              control.interrupt()
            },
          })
          await expectFailed(result, transport)
        },
      )
    },
  )

  it('does not mistake a line that a rank itself printed for one that names it', () => {
    const own =
      'rank 1 is process 7\nrank 1 is in the middle of a run\nrank 1: all results are right\nrank 11 is lost'
    expect(lineNaming(1, own)).toBeUndefined()
    expect(lineNaming(1, `${own}\ntandem: rank 1 (process 7 on host) ended unexpectedly.`)).toMatch(
      /unexpectedly/,
    )
  })
})
