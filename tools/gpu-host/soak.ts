/*
 * A soak test of a backend. One process works all the time, one allocates and frees device memory, and one is
 * killed and restarted again and again while it works. If there are transports, jobs of several ranks run
 * random algorithms at random sizes, and in half of the jobs a rank is killed at a random moment (cli's
 * soak-work.ts and backend-mpi's work.ts). No result may be wrong, a job must end soon after one of its ranks
 * is killed and name that rank, and at the end the GPUs' memory must be as full as at the start.
 *
 *   node tools/gpu-host/soak.ts [SECONDS, default 300] [BACKEND, default cuda] \
 *     [DEVICES and most ranks, default 2] [TRANSPORTS] [SEED]
 *
 * BACKEND is cuda, webgpu, reference or fake-gpus; the last two run only the jobs of several ranks.
 * TRANSPORTS are separated by commas; the default is every transport that works here, and `none` runs no jobs
 * of several ranks. Nothing starts in the last 10 s, or after ten problems. Prints a line of JSON per job,
 * and a summary. Exits with 1 if something is wrong.
 */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '@tandem-gpu/core/testing'
import {
  gpuUse,
  heldSince,
  lineNaming,
  patienceWith,
  runRankJob,
  transportsOf,
} from '../../packages/backend-mpi/src/testing/rank-jobs.ts'

const [length = '300', inner = 'cuda', devices = '2', transportList, seedText] = process.argv.slice(2)
const seed = Number(seedText ?? Date.now() % 1e9)
const random = seededRandom(seed)
const pick = (n: number) => Math.floor(random() * n)
/**
 * The limit from a kill to the end of the job. Detection takes at most 5 s on a machine that is not
 * overloaded.
 */
const mostSeconds = 30 * patienceWith(inner)
const work = fileURLToPath(new URL('../../packages/cli/src/testing/soak-work.ts', import.meta.url))
const hasWork = inner === 'cuda' || inner === 'webgpu'

const start = performance.now()
const left = () => Number(length) - (performance.now() - start) / 1000
const before = gpuUse()
const transports = transportList === 'none' ? [] : await transportsOf(transportList, inner, Number(devices))
const counts: Record<string, number> = Object.fromEntries(transports.map((name) => [name, 0]))
const problems: string[] = []
const noMore = new AbortController()

const [steady, pressure] = await Promise.all([
  ...(hasWork ? [process_('steady', seed), process_('pressure', seed + 1), victims()] : []),
  jobs(),
])
problems.push(...(await heldSince(before)))
if (inner === 'cuda' && before === undefined) problems.push('nvidia-smi does not say what the GPUs hold')
// Shorter soaks are for tests of this script.
if (Number(length) >= 60) {
  const { runs, aborted } = (steady ?? {}) as Record<string, number>
  const done = { ...counts, ...(hasWork && { runs, aborted, ...(pressure as object) }) }
  for (const [what, count] of Object.entries(done))
    if (!count && !['refused', 'problems'].includes(what))
      problems.push(`${what}: ${count}, so the soak shows nothing of it`)
}
const seconds = Math.round((performance.now() - start) / 1000)
const summary = { kind: 'soak', backend: inner, devices, transports, seed, seconds, ...counts }
console.log(JSON.stringify({ ...summary, steady, pressure, before, after: gpuUse(), problems }))
process.exitCode = problems.length > 0 ? 1 : 0

function count(what: string, more = 1): void {
  counts[what] = (counts[what] ?? 0) + more
}

function addProblems(of: string, found: readonly string[]): void {
  problems.push(...found.map((problem) => `${of}: ${problem}`))
  if (problems.length >= 10) noMore.abort()
}

/** Runs soak-work.ts to its end, or kills it; returns its final output. */
async function process_(role: string, itsSeed: number, killAfter?: number): Promise<unknown> {
  const args = [work, role, String(Math.max(1, left())), devices, String(itsSeed), inner]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  noMore.signal.addEventListener('abort', () => child.kill())
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  if (killAfter !== undefined && (await Promise.race([ended, sleep(killAfter)])) === undefined) {
    child.kill('SIGKILL')
    await ended
    count('processes killed')
    return undefined
  }
  const code = await ended
  if (code !== 0 || killAfter !== undefined)
    addProblems(role, [`it ends with ${code}: ${output.slice(-800)}`])
  return output.trim() === '' ? undefined : JSON.parse(output)
}

async function victims(): Promise<void> {
  for (let round = 0; left() > 8 && problems.length < 10; round++)
    await process_('victim', seed + 1000 + round, 300 + pick(6000))
}

async function jobs(): Promise<void> {
  if (transports.length === 0) return
  do await oneJob()
  while (left() > 10 && problems.length < 10)
}

async function oneJob(): Promise<void> {
  const transport = transports[pick(transports.length)]!
  const ranks = pick(2) === 0 ? 2 : Number(devices)
  const victim = pick(2) === 0 ? pick(ranks) : undefined
  const killAfterMilliseconds = pick(8000)
  const itsSeed = pick(2 ** 31)
  // A job whose rank is to be killed continues until then.
  const rounds = victim === undefined ? 1 + pick(5) : 1_000_000
  let timer: NodeJS.Timeout | undefined
  const { exitCode, text, seconds, disturbed, ...result } = await runRankJob({
    inner,
    ranks,
    transport,
    seed: itsSeed,
    role: 'work',
    rounds,
    onLine(_, control) {
      if (victim === undefined || timer !== undefined || control.processes.size < ranks) return
      timer = setTimeout(() => control.kill(victim), killAfterMilliseconds)
    },
  })
  clearTimeout(timer)
  const wrongs = [...result.problems]
  const require = (right: boolean, what: string) => right || wrongs.push(`${what}: ${text.slice(-800)}`)
  if (victim === undefined) {
    const right = text.match(/^rank \d+: all results are right$/gm)?.length
    require(exitCode === 0 && right === ranks, `exit code ${exitCode}`)
    count('rounds', rounds)
  } else {
    require(disturbed, `it ends by itself, with ${exitCode}`)
    require(exitCode !== 0, 'the exit code is 0')
    require(seconds <= mostSeconds, `it ends ${seconds} s after the rank`)
    require(!/^.*Wrong on rank.*$/m.test(text), 'a result is wrong')
    require(lineNaming(victim, text) !== undefined, `no line names rank ${victim}`)
    count('ranks killed')
    counts.slowestEnd = Math.max(counts.slowestEnd ?? 0, seconds)
  }
  count(transport)
  const job = { transport, ranks, seed: itsSeed, victim, killAfterMilliseconds, exitCode, seconds }
  console.log(JSON.stringify({ job, problems: wrongs }))
  addProblems(JSON.stringify(job), wrongs)
}
