/*
 * A soak of a backend. Beside one process that keeps working, others that do the same are killed at random times and replaced, and one more
 * takes and gives back device memory. Every element of the results is checked, and at the end the devices' memory and the working process's open
 * files and threads must be what they were at the start.
 *
 *   node tools/gpu-host/soak.ts [SECONDS, default 300] [DEVICES, default 2] [SEED] [cuda|webgpu]
 *
 * Prints one JSON document. Exit 0: no wrong result, no unexpected error, no leak, and something of each kind was done. 1: otherwise. A hang is for the
 * caller to notice: each step is bounded, so the whole ends within SECONDS and a minute.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cuda } from '@tandem-gpu/backend-cuda'
import { webgpu } from '@tandem-gpu/backend-webgpu'

const [seconds = 300, devices = 2, seed = Date.now() % 1e9] = process.argv.slice(2, 5).map(Number)
const name = process.argv[5] === 'webgpu' ? 'webgpu' : 'cuda'
const backend = name === 'webgpu' ? webgpu() : cuda()
const work = fileURLToPath(new URL('soak-work.ts', import.meta.url))
/** Memory that the driver keeps for itself may move by this much between two readings. */
const toleranceByteLength = 16 * 2 ** 20
const victims = 2

const problems: string[] = []
const start = performance.now()
const left = () => seconds - (performance.now() - start) / 1000
const before = await memoryUsed()

const steady = child('steady', seed)
const pressure = child('pressure', seed + 1)
let killed = 0
await Promise.all(Array.from({ length: victims }, (_, i) => killAgainAndAgain(i)))
const [steadyReport, pressureReport] = await Promise.all([report(steady), report(pressure)])

// The driver takes the memory of killed processes back by itself.
let after = await memoryUsed()
for (let waited = 0; waited < 20 && grown().length > 0; waited++) {
  await sleep(500)
  after = await memoryUsed()
}
problems.push(...grown())
const { groups, runs, aborted } = (steadyReport ?? {}) as Record<string, number>
const { allocations } = (pressureReport ?? {}) as Record<string, number>
for (const [what, count] of Object.entries({ groups, runs, aborted, allocations, killed }))
  if (!(count! > 0)) problems.push(`${what}: ${count}, so the soak shows nothing of it`)
console.log(
  JSON.stringify(
    {
      schema: 2,
      kind: 'soak',
      backend: backend.name,
      devices,
      seed,
      seconds: (performance.now() - start) / 1000,
      steady: steadyReport,
      pressure: pressureReport,
      killed,
      memoryBefore: before,
      memoryAfter: after,
      problems,
    },
    null,
    1,
  ),
)
process.exitCode = problems.length > 0 ? 1 : 0

function grown(): string[] {
  return after.flatMap((used, i) =>
    used - before[i]! > toleranceByteLength
      ? `device ${i} holds ${used - before[i]!} bytes more than at the start`
      : [],
  )
}

interface Child {
  readonly role: string
  readonly process: ChildProcess
  readonly output: string[]
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

function child(role: string, itsSeed: number): Child {
  const args = [work, role, String(Math.max(1, left())), String(devices), String(itsSeed), name]
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const output: string[] = []
  started.stdout.on('data', (text) => output.push(String(text)))
  return {
    role,
    process: started,
    output,
    ended: new Promise((resolve) => started.on('close', (code, signal) => resolve({ code, signal }))),
  }
}

/** Starts a process that works, kills it after a while, and starts the next. */
async function killAgainAndAgain(victim: number): Promise<void> {
  for (let round = 0; left() > 8; round++) {
    const one = child('victim', seed + 1000 * (victim + 1) + round)
    const early = await Promise.race([one.ended, sleep(300 + Math.random() * 6000, undefined)])
    if (early !== undefined) {
      problems.push(`a victim ends by itself (${early.code ?? early.signal}): ${one.output.join('')}`)
      continue
    }
    one.process.kill('SIGKILL')
    await one.ended
    killed++
  }
}

/** What a process says at its end; its problems become this one's. */
async function report({ role, output, ended }: Child): Promise<unknown> {
  const { code, signal } = await ended
  const line = output.join('').trim()
  if (code !== 0) problems.push(`${role} ends with ${code ?? signal}: ${line}`)
  return line === '' ? undefined : JSON.parse(line)
}

/** Bytes in use on each adapter, by its own sensors (the whole machine's processes). */
async function memoryUsed(): Promise<number[]> {
  const { adapters } = await backend.adapters()
  const readings = await Promise.all(adapters.map((adapter) => adapter.telemetry?.()))
  return readings.flatMap((reading) => reading?.memoryUsedByteLength ?? [])
}
