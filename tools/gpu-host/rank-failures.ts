/*
 * Proves what becomes of a job of several processes when one of them fails: with each transport, a rank killed in the middle of a run, a rank
 * that never joins and one that makes no further call, device memory exhausted on one rank, two ranks on one GPU; and `ipc` where the driver
 * refuses to map memory. Each ends with the rank named or a reason, no process is left, GPUs are as before, and the next job is right.
 *
 *   node tools/gpu-host/rank-failures.ts [BACKEND, default cuda] [RANKS, default 4] [TRANSPORTS, comma between; default those that work] [CASES] [SECONDS, default 600]
 *
 * BACKEND is cuda, or on a machine without a GPU fake-gpus, webgpu or reference, which have fewer cases. Prints one line of JSON a case and a summary.
 * After SECONDS no further case is begun, and that counts as a failure. Exit code 1: something is wrong.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gpuUse, heldSince, lineNaming, type RankJob, runRankJob, transportsOf } from './rank-jobs.ts'

const [inner = 'cuda', rankCount = '4', transportList, caseList, seconds = '600'] = process.argv.slice(2)
const ranks = Number(rankCount)
const hasGpus = inner === 'cuda' || inner === 'fake-gpus'
const start = performance.now()
const before = gpuUse()
const folder = mkdtempSync(join(tmpdir(), 'tandem-rank-failures-'))
let seed = 1

interface Outcome {
  readonly problems: readonly string[]
  /** What the job says of its end. */
  readonly says?: string | undefined
  readonly [key: string]: unknown
}

const job = (more: Partial<RankJob> & Pick<RankJob, 'transport' | 'role'>): RankJob => ({
  inner,
  ranks,
  seed: seed++,
  // The fake driver has this much, in memory of the host.
  environment: inner === 'fake-gpus' ? { FAKE_CUDA_MEMORY: String(2 ** 26) } : {},
  ...more,
})

const cases: Record<string, (transport: string) => Promise<Outcome>> = {
  async killed(transport) {
    let running = 0
    const result = await runRankJob(
      job({
        transport,
        role: 'endless',
        onLine(line, control) {
          if (/ is in the middle of a run$/.test(line) && ++running === ranks)
            setTimeout(() => control.kill(1), 500)
        },
      }),
    )
    return { ...named(result, result.disturbed), ...(await next(transport, result.problems)) }
  },
  async 'out-of-memory'(transport) {
    const result = await runRankJob(job({ transport, role: 'exhaust' }))
    const refusals = result.text.match(/^rank \d+ is refused memory: (Rank 1: )?Allocating .*$/gm) ?? []
    if (refusals.length !== ranks) result.problems.push(`${refusals.length} ranks have a typed error`)
    return { ...rightIn(result, ranks), says: refusals[0] }
  },
  async 'shared-gpu'(transport) {
    const shared = inner === 'cuda' ? job({ transport, role: 'work', ranks: 2 }) : undefined
    const result = await runRankJob(
      shared
        ? { ...shared, environment: { CUDA_VISIBLE_DEVICES: '0' } }
        : job({ transport, role: 'work', ranks: 2, inner: 'fake-cuda' }),
    )
    const refusal = transport === 'ipc' || transport === 'nccl' ? /have the same GPU/ : undefined
    return refusedOrRight(result, 2, refusal, transport !== 'staged')
  },
  async 'no-ipc'(transport) {
    const library = join(folder, 'refuse-ipc.so')
    const source = fileURLToPath(new URL('refuse-ipc.c', import.meta.url))
    const built = spawnSync('cc', ['-shared', '-fPIC', source, '-o', library, '-ldl'], { encoding: 'utf8' })
    if (built.status !== 0) return { problems: [`refuse-ipc.c does not build: ${built.stderr}`] }
    const described = job({ transport, role: 'work', ranks: 2 })
    const environment = { ...described.environment, LD_PRELOAD: library }
    const result = await runRankJob({ ...described, environment })
    return refusedOrRight(result, 2, transport === 'ipc' ? /cuIpcOpenMemHandle/ : undefined, false)
  },
  async absent(transport) {
    return waitedFor(transport, 'absent', /has waited 5 s for other ranks to join/)
  },
  async away(transport) {
    return waitedFor(transport, 'away', /has waited 5 s for rank 1 /)
  },
}

/** Which transports a case is about, and which backends have what it needs. */
const concerns: Record<string, (transport: string) => boolean> = {
  'out-of-memory': () => hasGpus,
  'shared-gpu': (transport) => hasGpus && transport !== 'auto',
  // With `auto`, another transport must serve.
  'no-ipc': (transport) => hasGpus && (transport === 'ipc' || transport === 'auto'),
  // Before they join, ranks know of no transport.
  absent: (transport) => transport === 'staged',
}

let wrong = inner === 'cuda' && before === undefined ? 1 : 0
let count = 0
const { transports, refused } = await transportsOf(transportList, inner, ranks)
const wanted = caseList ? caseList.split(',') : Object.keys(cases)
for (const name of wanted)
  for (const transport of [...transports, ...(name === 'no-ipc' ? ['auto'] : [])]) {
    if (!(concerns[name]?.(transport) ?? true)) continue
    const began = performance.now()
    const elapsed = (began - start) / 1000
    const outcome =
      elapsed < Number(seconds)
        ? await cases[name]!(transport)
        : { problems: [`not begun after ${seconds} s`] }
    const problems = [...outcome.problems, ...(await heldSince(before))]
    count++
    if (problems.length > 0) wrong++
    const took = Math.round(performance.now() - began) / 1000
    console.log(
      JSON.stringify({ case: name, transport, right: problems.length === 0, ...outcome, took, problems }),
    )
  }
rmSync(folder, { recursive: true })
const summary = { kind: 'rank failures', backend: inner, ranks, transports, refused, cases: count, wrong }
console.log(JSON.stringify({ ...summary, before, after: gpuUse() }))
process.exitCode = wrong === 0 && count > 0 ? 0 : 1

type JobResult = Awaited<ReturnType<typeof runRankJob>>

/** The job must have ended with rank 1 named. */
function named({ exitCode, text, seconds, problems }: JobResult, disturbed: boolean): Outcome {
  const says = lineNaming(1, text)
  if (!disturbed) problems.push(`the job ends by itself: ${text.slice(-600)}`)
  if (exitCode === 0) problems.push('the exit code is 0')
  if (says === undefined) problems.push(`no line names rank 1: ${text.slice(-600)}`)
  return { exitCode, endedAfter: Math.round(seconds * 10) / 10, says, problems }
}

async function waitedFor(transport: string, role: string, sentence: RegExp): Promise<Outcome> {
  let said: string | undefined
  const result = await runRankJob(
    job({
      transport,
      role,
      onLine(line, control) {
        if (said !== undefined || !sentence.test(line)) return
        said = line
        control.interrupt()
      },
    }),
  )
  const { exitCode, text, seconds, problems } = result
  if (said === undefined) problems.push(`no rank says that it waits: ${text.slice(-600)}`)
  if (exitCode === 0) problems.push('the exit code is 0')
  const endedAfter = Math.round(seconds * 10) / 10
  return { exitCode, endedAfter, says: said, ...(await next(transport, problems)) }
}

/** What comes after a failure is right. */
async function next(transport: string, problems: string[]): Promise<Outcome> {
  const result = await runRankJob(job({ transport, role: 'work', rounds: 2 }))
  return { problems: [...problems, ...rightIn(result, ranks).problems.map((text) => `next job: ${text}`)] }
}

function rightIn({ exitCode, text, problems }: JobResult, size: number): Outcome {
  const right = text.match(/^rank \d+: all results are right$/gm)?.length ?? 0
  if (exitCode !== 0 || right !== size)
    problems.push(`exit code ${exitCode}, ${right} of ${size} ranks are right: ${text.slice(-800)}`)
  const transport = /^transport (.*)$/m.exec(text)?.[1]
  return { problems, ...(transport !== undefined && { chosen: JSON.parse(transport) }) }
}

/** Every rank refuses with that reason; or with any, where it `may`, and else computes rightly. */
function refusedOrRight(result: JobResult, size: number, reason: RegExp | undefined, may: boolean): Outcome {
  const refusals = result.text.match(/^rank \d+ ends: unsupported: .*$/gm) ?? []
  if (reason === undefined && !(may && refusals.length > 0)) return rightIn(result, size)
  const { exitCode, problems } = result
  if (refusals.length !== size || !refusals.every((line) => reason?.test(line) ?? true))
    problems.push(`${refusals.length} of ${size} ranks refuse: ${result.text.slice(-800)}`)
  return { exitCode, says: refusals[0], problems }
}
