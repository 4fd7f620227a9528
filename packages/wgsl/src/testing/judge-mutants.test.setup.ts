import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { afterEach, beforeEach, it, type RunnerTask, type RunnerTestCase, TestRunner } from 'vitest'
import type { MutantSwitches } from './mutant-switches.test.setup.ts'

/*
 * Loads the tests of mutation testing, and adds a last test that runs them again for each mutant of
 * TANDEM_MUTATED, in the same process: those that reach the mutant, the most promising first, until one
 * fails. A mutant that a test finds thus costs milliseconds. Results are written line by line to the file
 * TANDEM_MUTANT_RESULTS; if a mutant stops the process, `mutants.test.ts` continues after the last line.
 */

/** A line of the results; the other lines are `started ID` and heartbeats. */
export interface Judgement {
  readonly id: string
  /** `endless` counts as killed; a `static` mutant is reached only when the file is loaded. */
  readonly status: 'killed' | 'endless' | 'survived' | 'not reached' | 'static'
  readonly by?: string
}

const results = process.env.TANDEM_MUTANT_RESULTS!
/** This process tests every `of`-th mutant. */
const [part, of] = (process.env.TANDEM_MUTANT_PART ?? '0/1').split('/').map(Number) as [number, number]
/** Only these mutants, tested only by random kernels. */
const only = process.env.TANDEM_MUTANTS?.split(',')
/**
 * The time limit per hit is more than all hits took without a mutant: a mutant that exceeds it does not end.
 */
const mostHits = (hits: number) => 1000 + 100 * hits

const shared = globalThis as { __stryker__?: MutantSwitches }
shared.__stryker__ ??= {}
const switches = shared.__stryker__
switches.isCovering = true
const times = new Map<string, number>()
let begun = 0
beforeEach(({ task }) => {
  switches.currentTestId = task.id
  begun = performance.now()
})
afterEach(({ task }) => {
  times.set(task.id, performance.now() - begun)
  delete switches.currentTestId
})

/** Tests of C++ and of the source's limits, which take long. */
const leftOut =
  /half-float|async-copies-random|exact-values|execution|operator-forms|random-kernels|fuzz|limits|scaling/
const few = process.env.TANDEM_MUTANT_TESTS === 'few'
const folders =
  only !== undefined ? [] : few ? ['analysis'] : ['', 'analysis', 'cuda', 'frontend', 'validity']
const files = folders.flatMap((folder) =>
  readdirSync(new URL(`../${folder}`, import.meta.url))
    .filter((name) => name.endsWith('.test.ts') && !leftOut.test(name))
    .map((name) => `../${folder}/${name}`),
)
if (only === undefined && !few) files.push('./fact-checker.test.ts')
if (!few) files.push('./random-facts.test.ts')
for (const file of files) await import(file)

it('judges the mutants', async ({ task }) => {
  const { mutants = [], mutantCoverage = { static: {}, perTest: {} } } = switches
  switches.isCovering = false
  const tests = testsOf(task.file).filter((t) => t.result?.state === 'pass')
  const write = (line: string) => appendFileSync(results, `${line}\n`)
  const judge = (judgement: Judgement & { readonly ms?: number }) => write(JSON.stringify(judgement))
  write(JSON.stringify({ mutants }))
  const judged = new Set([...readFileSync(results, 'utf8').matchAll(/^\{"id":"(\d+)"/gm)].map((m) => m[1]))
  const run = async (t: RunnerTestCase): Promise<boolean> => {
    try {
      await TestRunner.getTestFn(t)()
      return true
    } catch {
      return false
    } finally {
      // The state that `expect` keeps in the running test, which is this one.
      task.promises?.splice(0)
    }
  }
  const kills = new Map<RunnerTestCase, number>()
  const tries = new Map<RunnerTestCase, number>()
  const timeToKill = (t: RunnerTestCase) =>
    (times.get(t.id)! * ((tries.get(t) ?? 0) + 2)) / ((kills.get(t) ?? 0) + 0.5)
  let heard = performance.now()
  for (const [i, { id }] of mutants.entries()) {
    if (judged.has(id) || (only === undefined ? i % of !== part : !only.includes(id))) continue
    const reached = tests.filter((t) => mutantCoverage.perTest[t.id]?.[id] !== undefined)
    if (reached.length === 0) {
      judge({ id, status: mutantCoverage.static[id] === undefined ? 'not reached' : 'static' })
      continue
    }
    write(`started ${id}`)
    const start = performance.now()
    let found: Omit<Judgement, 'id'> = { status: 'survived' }
    for (const t of reached.sort((a, b) => timeToKill(a) - timeToKill(b))) {
      switches.activeMutant = id
      switches.hitCount = 0
      switches.hitLimit = mostHits(mutantCoverage.perTest[t.id]![id]!)
      const passes = await run(t)
      const isEndless = switches.hitCount > switches.hitLimit
      delete switches.activeMutant
      tries.set(t, (tries.get(t) ?? 0) + 1)
      if (!passes || isEndless) {
        kills.set(t, (kills.get(t) ?? 0) + 1)
        found = { status: isEndless ? 'endless' : 'killed', by: t.name }
        break
      }
      if (performance.now() - heard > 1000) {
        heard = performance.now()
        write('.')
      }
    }
    judge({ id, ...found, ms: Math.round(performance.now() - start) })
  }
  // A test that fails now fails because of state that mutants left in memory, and may have failed for that
  // reason before.
  const broken: string[] = []
  for (const t of part === 0 ? tests : []) {
    if (!(await run(t))) broken.push(t.name)
    write('.')
  }
  write(JSON.stringify({ end: true, broken }))
})

/** All tests except the last one, which runs them for each mutant. */
function testsOf(task: RunnerTask): RunnerTestCase[] {
  if (task.type === 'test') return times.has(task.id) ? [task] : []
  return task.tasks.flatMap(testsOf)
}
