// Runs the long forms of the tests that draw random cases, in concurrent parts:
//
// node tools/long-tests.ts [--processes N] [--suite NAME]... [--list]
//
// Reports a failing part at once, and prints one line for each suite at the end; the exit code is 1 if
// anything failed.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { longSuites, type Suite } from './testing/long-suites.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/** The relevant part of vitest's JSON report. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string
      readonly meta: { readonly cases?: number }
    }[]
  }[]
}

/** The combined results of the parts of a suite that have ended. */
class Outcome {
  cases = 0
  readonly passed: number[] = []
  readonly failed: number[] = []
  readonly skipped: number[] = []
  seconds = 0

  line({ name, parts }: Suite): string {
    const ended = this.passed.length + this.failed.length + this.skipped.length
    const words = [`${this.cases} cases`, `${this.passed.length} of ${parts} parts passed`]
    if (this.failed.length > 0) words.push(`failed: ${this.failed.map((k) => `${k}/${parts}`).join(', ')}`)
    if (this.skipped.length > 0)
      words.push(
        `skipped for what this machine lacks: ${this.skipped.map((k) => `${k}/${parts}`).join(', ')}`,
      )
    if (ended < parts) words.push(`${parts - ended} did not end`)
    return `${name}: ${words.join(', ')} (${Math.round(this.seconds)} s of processes)`
  }
}

async function runSuites(suites: readonly Suite[], processes: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-long-tests-'))
  const outcomes = new Map(suites.map((suite) => [suite, new Outcome()]))
  const queue = suites.flatMap((suite) =>
    suite.parts === 1 ? [] : Array.from({ length: suite.parts }, (_, i) => ({ suite, part: i + 1 })),
  )
  const print = () => {
    for (const [suite, outcome] of outcomes) console.log(outcome.line(suite))
  }
  process.once('SIGTERM', () => {
    print()
    for (const child of running) child.kill()
    process.exit(143)
  })
  await Promise.all(
    Array.from({ length: Math.max(1, processes) }, async (_, worker) => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift())
        await runPart(next.suite, next.part, join(folder, `${worker}.json`), outcomes.get(next.suite)!)
    }),
  )
  for (const suite of suites)
    if (suite.parts === 1) await runPart(suite, 1, join(folder, 'alone.json'), outcomes.get(suite)!)
  rmSync(folder, { recursive: true })
  print()
  // All parts of a suite must skip the same tests; otherwise something went wrong.
  const isRight = ({ passed, failed, skipped }: Outcome) =>
    failed.length === 0 && (skipped.length === 0 || passed.length === 0)
  return [...outcomes.values()].every(isRight) ? 0 : 1
}

const running = new Set<ChildProcess>()

async function runPart(suite: Suite, part: number, reportPath: string, outcome: Outcome): Promise<void> {
  const [packageFolder, path] = suite.file
  const shard = `${part}/${suite.parts}`
  const start = performance.now()
  rmSync(reportPath, { force: true })
  const args = ['run', '--root', join(root, 'packages', packageFolder), '--testNamePattern', suite.tests]
  args.push('--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`, `src/${path}`)
  const { output, code } = await new Promise<{ output: string; code: number | null }>((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, ...args], {
      cwd: root,
      env: { ...process.env, TANDEM_LONG: '1', TANDEM_SHARD: shard, NO_COLOR: '1' },
    })
    running.add(child)
    const chunks: string[] = []
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text))
    child.on('error', reject)
    child.on('close', (code) => {
      running.delete(child)
      resolve({ output: chunks.join(''), code })
    })
  })
  outcome.seconds += (performance.now() - start) / 1000
  const report: Report = existsSync(reportPath)
    ? JSON.parse(readFileSync(reportPath, 'utf8'))
    : { testResults: [] }
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const ran = results.filter(({ status }) => status === 'passed' || status === 'failed')
  for (const { meta } of ran) outcome.cases += meta.cases ?? 1
  // A test that ends its process has no status, but vitest's own status is then an error.
  if (code === 0 && ran.length > 0 && ran.every(({ status }) => status === 'passed'))
    outcome.passed.push(part)
  // Tests that the pattern leaves out are skipped too: a part without any test that ran lacks something.
  else if (code === 0 && ran.length === 0 && results.length > 0) outcome.skipped.push(part)
  else {
    outcome.failed.push(part)
    console.log(`${suite.name}, part ${shard}:\n${output}\n`)
  }
}

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: String(availableParallelism()) },
    suite: { type: 'string', multiple: true },
    list: { type: 'boolean', default: false },
  },
})
const wanted = longSuites.filter(({ name }) => values.suite?.includes(name) ?? true)
if (values.list) for (const { name, parts } of longSuites) console.log(`${name}: ${parts} parts`)
else process.exitCode = await runSuites(wanted, Number(values.processes))
