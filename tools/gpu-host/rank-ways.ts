/*
 * Compares one process with several on a GPU host: measures the rows of table.ts in one process that has all
 * GPUs, and over each transport in one process per GPU, in turn, all in one job.
 *
 *   node tools/gpu-host/table.ts --ways one,ipc,nccl,staged --out ranks.json [--ranks 4] [--rounds 2] \
 *     [--seconds 180] [--commit ID] \
 *     [--rows …] [--mpi-of gpu-aware=/opt/an-mpi] [--nvidia nccl=/tmp/nccl,mpi=/tmp/mpi]
 *
 * A round has one job for each way, and every second round runs them in the opposite order. After
 * `--seconds`, running jobs end and no others start; completed measurements are kept. Results are not
 * verified here (other jobs test the bits), but sums and residuals must have the same bits in all jobs.
 * `--mpi-of` starts the jobs of a way with the MPI in the given folder. `--nvidia` names executables of
 * NVIDIA's multi-gpu-programming-models, which are not part of this repository and print `-csv`; they are
 * ways too, such as `nvidia:mpi`. Exits with 1 if bits differ or a job fails.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { figures } from './figures.ts'
import {
  type BenchTable,
  middle,
  type RankResult,
  type RankTable,
  type RingCost,
  type RunCost,
} from './table-documents.ts'

export const rankOptions = {
  ways: { type: 'string' },
  ranks: { type: 'string', default: '4' },
  rounds: { type: 'string', default: '2' },
  seconds: { type: 'string', default: '180' },
  'mpi-of': { type: 'string' },
  nvidia: { type: 'string' },
} as const

/**
 * The options with which the jobs of a table are measured: these, and those that table.ts also has for its
 * own rows.
 */
type RankValues = Readonly<Record<'commit' | 'backend' | 'ranks' | 'rounds' | 'seconds', string>> &
  Partial<Record<'out' | 'rows' | 'ways' | 'mpi-of' | 'nvidia', string | undefined>>

const usualRows =
  'jacobi:2048:16384,transpose:2048:32768,sum:2147483648,run,gemm-streamed:16384,ring:16384,gemm-resident:32768'

export function measureWays(values: RankValues): void {
  const out = values.out ?? 'ranks.json'
  const pairs = (text: string | undefined) =>
    (text?.split(',') ?? []).map((pair) => pair.split('=') as [string, string])
  const prefixes = new Map(pairs(values['mpi-of']))
  const samples = new Map(pairs(values.nvidia))
  const ranks = Number(values.ranks)
  const folder = mkdtempSync(join(tmpdir(), 'tandem-ranks-'))
  /** A job that takes longer has lost a rank. */
  const mostSeconds = 75
  /** An NVIDIA sample that takes longer for one size never ends; its output up to then counts. */
  const mostSecondsOfSample = 20

  const rounds = new Map<string, { work: string; size: number; way: string; seconds: number[] }>()
  const rings: { way: string; cost: RingCost }[] = []
  const runs: { way: string; cost: RunCost }[] = []
  const failures: string[] = []
  const bits = new Map<string, string>()
  let machine: RankTable['machine'] = {}
  const date = new Date().toISOString()
  /** The same elements in every job. */
  const seed = String(Date.now() % 2 ** 31)

  const ways = (values.ways ?? 'one').split(',')
  /** Below 1 if no time is left. */
  const secondsLeft = (most: number) =>
    Math.min(most, Math.floor(Number(values.seconds) - performance.now() / 1000))
  for (let round = 0; round < Number(values.rounds); round++)
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
      const from = performance.now()
      if (secondsLeft(mostSeconds) < 5) failures.push(`${way}, round ${round + 1}: no time is left`)
      else if (way.startsWith('nvidia:')) sample(way.slice('nvidia:'.length))
      else ours(way)
      console.error(`${way}, round ${round + 1}: ${((performance.now() - from) / 1000).toFixed(1)} s`)
      save()
    }
  for (const name of ['table', 'costs']) console.log(figures(name, save(), out))
  for (const failure of failures) console.log(failure)
  if (failures.length > 0) process.exitCode = 1

  function add(work: string, size: number, way: string, seconds: number): void {
    const key = `${work} ${size} ${way}`
    const entry = rounds.get(key) ?? { work, size, way, seconds: [] }
    entry.seconds.push(seconds)
    rounds.set(key, entry)
  }

  /** Runs one job of table.ts: in one process, or in one process per GPU. */
  function ours(way: string): void {
    const job = join(folder, 'job.json')
    writeFileSync(job, '')
    const script = import.meta.resolve('./table.ts').slice('file://'.length)
    const rows = values.rows ?? usualRows
    const options = [
      '--disable-warning=ExperimentalWarning',
      script,
      '--no-peers',
      '--no-verify',
      '--no-tune',
      '--brief',
      '--seed',
      seed,
      '--backend',
      values.backend,
      '--rows',
      rows,
      '--counts',
      values.ranks,
      '--out',
      job,
    ]
    const { execPath } = process
    if (way === 'one') start(way, mostSeconds, execPath, [...options, '--devices', values.ranks])
    else {
      const launched = [...mpirunOptions(), execPath, ...options, '--transport', way]
      start(way, mostSeconds, 'mpirun', launched, prefixes.get(way))
    }
    const text = existsSync(job) ? readFileSync(job, 'utf8') : ''
    if (text === '') return
    const document: BenchTable = JSON.parse(text)
    if (way === 'one') machine = document.machine
    for (const { work, variant, shape, seconds } of document.ours) {
      const name = variant.includes(' resident') ? `${work}-resident` : work
      add(name, Number(Object.values(shape)[0]), way, seconds)
    }
    for (const [name, value] of Object.entries(document.bits ?? {})) {
      const known = bits.get(name)
      if (known === undefined) bits.set(name, value)
      else if (known !== value) failures.push(`${name}: ${way} gives ${value}, and others ${known}`)
    }
    for (const cost of document.rings ?? []) rings.push({ way, cost })
    for (const cost of document.runs ?? []) runs.push({ way, cost })
  }

  /** Runs an NVIDIA sample for the two sizes of its row. */
  function sample(name: string): void {
    const path = samples.get(name)
    if (path === undefined) throw new Error(`--nvidia has no path of ${name}`)
    for (const side of [2048, 16384]) {
      if (secondsLeft(mostSecondsOfSample) < 5) {
        failures.push(`nvidia:${name} at ${side}²: no time is left`)
        continue
      }
      const size = ['-nx', String(side), '-ny', String(side)]
      const options = [...size, '-niter', '1000', '-nccheck', '100', '-csv']
      const printed = start(
        `NVIDIA ${name} at ${side}²`,
        mostSecondsOfSample,
        'mpirun',
        [...mpirunOptions(), path, ...options],
        prefixes.get(`nvidia:${name}`),
      )
      const seconds = Number(new RegExp(`^${name}, .* 1, ([\\d.]+),`, 'm').exec(printed)?.[1])
      if (seconds > 0) add('jacobi', side, `NVIDIA ${name}`, seconds / 1000)
      else failures.push(`NVIDIA ${name} at ${side}²: ${printed.slice(-300)}`)
    }
  }

  function mpirunOptions(): string[] {
    const crowded = availableParallelism() < ranks
    return [
      ...(crowded ? ['--oversubscribe', '--mca', 'mpi_yield_when_idle', '1'] : []),
      '--bind-to',
      'none',
      '-n',
      values.ranks,
    ]
  }

  /** Runs a command to its end, with the MPI in `prefix` first on the path; returns its output. */
  function start(
    what: string,
    most: number,
    command: string,
    options: readonly string[],
    prefix?: string,
  ): string {
    const { env } = process
    const first = (folder: string, path: string | undefined) =>
      [`${prefix}/${folder}`, path].filter(Boolean).join(':')
    const { status, stdout, stderr } = spawnSync(
      'timeout',
      ['-k', '5', String(Math.max(1, secondsLeft(most))), command, ...options],
      {
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
        env: {
          ...env,
          OMPI_ALLOW_RUN_AS_ROOT: '1',
          OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
          NCCL_NVLS_ENABLE: '0',
          CUDA_VISIBLE_DEVICES: [...Array(ranks).keys()].join(),
          ...(prefix && {
            PATH: first('bin', env.PATH),
            LD_LIBRARY_PATH: first('lib', env.LD_LIBRARY_PATH),
            OPAL_PREFIX: prefix,
          }),
        },
      },
    )
    process.stderr.write(stderr)
    if (status !== 0) {
      const lines = stderr.trim().split('\n')
      failures.push(
        `${what} ends with ${status}: ${lines.find((line) => /Error|ERROR/.test(line)) ?? lines.at(-1)}`,
      )
    }
    return stdout + stderr
  }

  /** The document so far, written after every job. */
  function save(): RankTable {
    const results: RankResult[] = [...rounds.values()].map(({ seconds, ...of }) => ({
      ...of,
      seconds: middle(seconds),
      rounds: seconds,
    }))
    const table: RankTable = {
      schema: 1,
      kind: 'ranks',
      date,
      commit: values.commit,
      machine,
      ranks,
      results,
      rings,
      runs,
      failures,
    }
    writeFileSync(out, `${JSON.stringify(table, null, 1)}\n`)
    return table
  }
}
