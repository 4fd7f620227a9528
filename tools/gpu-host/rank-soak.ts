/*
 * A soak over ranks. One job after another, of 2 and up to RANKS processes over random transports, computes random algorithms at random sizes and
 * checks every result; in half of them a random rank is killed at a random moment. Beside them one process keeps working on all devices
 * (soak-work.ts). No result may be wrong; a killed rank ends its job soon, and is named; at the end the GPUs hold what they held at the start.
 *
 *   node tools/gpu-host/rank-soak.ts [SECONDS, default 300] [BACKEND, default cuda] [RANKS, default 4] [TRANSPORTS, comma between; default those that work] [SEED]
 *
 * BACKEND is cuda, or on a machine without a GPU webgpu or reference with transport staged, or fake-gpus. No job is begun in the last 10 s, nor after ten problems. Prints one line of JSON a job and a summary. Exit code 1: something is wrong.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { gpuUse, heldSince, lineNaming, patienceWith, runRankJob, transportsOf } from './rank-jobs.ts'

const [length = '300', inner = 'cuda', rankCount = '4', transportList, seedText] = process.argv.slice(2)
const seed = Number(seedText ?? Date.now() % 1e9)
const sizes = Number(rankCount) > 2 ? [2, Number(rankCount)] : [2]
const random = lehmer(seed)
const pick = (n: number) => Math.floor(random() * n)
/** From a kill to the end of the job. Liveness takes 5 s at most, on a machine that has time for it. */
const mostSeconds = 30 * patienceWith(inner)

const start = performance.now()
const left = () => Number(length) - (performance.now() - start) / 1000
const before = gpuUse()
const { transports, refused } = await transportsOf(transportList, inner, Number(rankCount))
const noMore = new AbortController()
const steady = startSteady(noMore.signal)
const counts = { jobs: 0, killed: 0, killedBeforeJoining: 0, rounds: 0 }
const byTransport: Record<string, number> = {}
const problems: string[] = []
let slowestEnd = 0

do await oneJob()
while (left() > 10 && problems.length < 10)
if (problems.length >= 10) noMore.abort()
const beside = await steady
problems.push(...beside.problems.map((problem) => `beside: ${problem}`), ...(await heldSince(before)))
if (inner === 'cuda' && before === undefined) problems.push('nvidia-smi does not say what the GPUs hold')
// Shorter ones are for tests of this script.
if (Number(length) >= 60)
  for (const [what, done] of [
    ...transports.map((name) => [name, byTransport[name]] as const),
    ...Object.entries(counts),
  ])
    if (!done && what !== 'killedBeforeJoining')
      problems.push(`${what}: none, so the soak shows nothing of it`)
const summary = { kind: 'soak over ranks', backend: inner, ranks: sizes, transports, refused, seed }
const seconds = Math.round((performance.now() - start) / 1000)
const measured = {
  seconds,
  ...counts,
  byTransport,
  slowestEnd,
  beside: beside.report,
  before,
  after: gpuUse(),
}
console.log(JSON.stringify({ ...summary, ...measured, problems }))
process.exitCode = problems.length === 0 && counts.jobs > 0 ? 0 : 1

async function oneJob(): Promise<void> {
  const transport = transports[pick(transports.length)]!
  const ranks = sizes[pick(sizes.length)]!
  const victim = pick(2) === 0 ? pick(ranks) : undefined
  const killAfterMilliseconds = pick(8000)
  const itsSeed = pick(2 ** 31)
  // A job whose rank is to be killed goes on until then.
  const rounds = victim === undefined ? 1 + pick(5) : 1_000_000
  let timer: NodeJS.Timeout | undefined
  let joined = false
  const { exitCode, text, seconds, disturbed, ...result } = await runRankJob({
    ...{ inner, ranks, transport, seed: itsSeed, role: 'work', rounds },
    onLine(line, control) {
      joined ||= line.startsWith('transport ')
      if (victim === undefined || timer !== undefined || control.processes.size < ranks) return
      timer = setTimeout(() => control.kill(victim), killAfterMilliseconds)
    },
  })
  clearTimeout(timer)
  const wrongs = [...result.problems]
  if (victim === undefined) {
    const right = text.match(/^rank \d+: all results are right$/gm)?.length
    if (exitCode !== 0 || right !== ranks) wrongs.push(`exit code ${exitCode}: ${text.slice(-800)}`)
    else counts.rounds += rounds
  } else if (!disturbed) wrongs.push(`it ends by itself, with ${exitCode}: ${text.slice(-800)}`)
  else {
    counts.killed++
    if (!joined) counts.killedBeforeJoining++
    slowestEnd = Math.max(slowestEnd, seconds)
    if (exitCode === 0) wrongs.push('the exit code is 0')
    if (seconds > mostSeconds) wrongs.push(`it ends ${seconds} s after the rank`)
    if (/^.*Wrong on rank.*$/m.test(text)) wrongs.push(text.slice(-800))
    if (lineNaming(victim, text) === undefined)
      wrongs.push(`no line names rank ${victim}: ${text.slice(-800)}`)
  }
  counts.jobs++
  byTransport[transport] = (byTransport[transport] ?? 0) + 1
  const described = { transport, ranks, seed: itsSeed, victim, joined, killAfterMilliseconds, exitCode }
  console.log(
    JSON.stringify({
      job: counts.jobs,
      ...described,
      seconds: Math.round(seconds * 10) / 10,
      problems: wrongs,
    }),
  )
  problems.push(
    ...wrongs.map((wrong) => `job ${counts.jobs} (${transport}, ${ranks} ranks, seed ${itsSeed}): ${wrong}`),
  )
}

/** The process that keeps working; undefined as its report where no backend of its kind fits. */
async function startSteady(signal: AbortSignal): Promise<{ report?: unknown; problems: string[] }> {
  if (inner !== 'cuda' && inner !== 'webgpu') return { problems: [] }
  const work = fileURLToPath(new URL('soak-work.ts', import.meta.url))
  const args = [work, 'steady', length, String(sizes.at(-1)), String(seed), inner]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  signal.addEventListener('abort', () => child.kill())
  child.stdout.on('data', (text) => {
    output += text
  })
  const code = await new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  return {
    ...(output.trim() !== '' && { report: JSON.parse(output) as unknown }),
    problems: code === 0 ? [] : [`it ends with ${code}: ${output.slice(-800)}`],
  }
}

/** Lehmer's generator with Park and Miller's constants: a soak is repeated from its seed. */
function lehmer(start: number): () => number {
  let state = (start % 2_147_483_646) + 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
