import { spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Judgement } from './judge-mutants.test.setup.ts'
import type { Mutant } from './mutant-switches.test.setup.ts'
import { isLong, testCases } from './test-cases.ts'

/*
 * Stryker's instrumenter changes the code of the analyses, of the rules of validity and of the optimisations,
 * one operator or condition at a time, and the tests that `judge-mutants.test.setup.ts` loads run on each
 * mutant. testdata/mutants lists those that no test notices, by the changed line, each with a reason: the
 * mutant is equivalent, or it only changes how long something takes. A mutant without such a reason needs a
 * new test, or a new form in the random kernels.
 */

const home = fileURLToPath(new URL('../../', import.meta.url))
const lists = join(home, 'testdata/mutants')
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

/** A test takes seconds at most. */
const mostSilentMilliseconds = 120_000

/**
 * First the file with the fewest mutants, which is the one that the short form of the test uses; then in
 * ascending order of size.
 */
const fewest = 'analysis/analyses.ts'
/** The files of `cuda` that decide about checks and copies; golden texts cover the others. */
const ofCuda = /^(.*-copies|copy-elements|swizzles|unrolling)\.ts$/
const files = [
  ...['analysis', 'validity', 'cuda'].flatMap((folder) =>
    readdirSync(join(home, 'src', folder))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .filter((name) => folder !== 'cuda' || ofCuda.test(name))
      .map((name) => `${folder}/${name}`),
  ),
].sort((a, b) => rank(a) - rank(b))

function rank(file: string): number {
  return file === fewest ? 0 : statSync(join(home, 'src', file)).size
}

type Line = Judgement | { readonly mutants: readonly Mutant[] } | { readonly broken: readonly string[] }

/** The score of a file, and the mutants that no test notices. */
async function judge(file: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-mutants-'))
  try {
    const results = join(folder, 'results')
    writeFileSync(results, '')
    for (;;) {
      const output = await run(file, results)
      const lines = linesOf(results)
      const end = lines.find((line) => 'broken' in line)
      if (end !== undefined) {
        expect(end.broken, 'tests that pass again without a mutant').toEqual([])
        return summary(file, lines)
      }
      // The process ended while it tested this mutant.
      const started = [...readFileSync(results, 'utf8').matchAll(/^started (\d+)$/gm)].at(-1)?.[1]
      if (started === undefined || lines.some((line) => 'id' in line && line.id === started))
        throw new Error(`the tests did not run on ${file}: ${output}`)
      appendFileSync(results, `\n${JSON.stringify({ id: started, status: 'endless' } satisfies Judgement)}\n`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Tests the mutants that have no results yet, until the end or until there is no output for a long time;
 * returns the output.
 */
function run(file: string, results: string): Promise<string> {
  const env = {
    ...process.env,
    TANDEM_MUTATED: `src/${file}`,
    TANDEM_MUTANT_RESULTS: results,
    TANDEM_MUTANT_TESTS: isLong ? 'all' : 'few',
    CI: '1',
    TANDEM_LONG: undefined,
    TANDEM_SHARD: undefined,
  }
  const line = [vitest, 'run', 'judge-mutants', '--config', 'mutation.vitest.config.ts']
  const child = spawn(process.execPath, line, { cwd: home, env, detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const timer = setInterval(() => {
    const { size, mtimeMs } = statSync(results)
    // Vitest's worker belongs to the same process group.
    if (size > 0 && Date.now() - mtimeMs > mostSilentMilliseconds) process.kill(-child.pid!, 'SIGKILL')
  }, 1000)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      clearInterval(timer)
      resolve(output.slice(-2000))
    })
  })
}

function linesOf(results: string): Line[] {
  return readFileSync(results, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}

function summary(file: string, lines: readonly Line[]): string {
  const { mutants } = lines.find((line) => 'mutants' in line)!
  const judgements = new Map(lines.flatMap((line) => ('id' in line ? [[line.id, line.status]] : [])))
  const judged = mutants.filter(({ id }) => judgements.get(id) !== 'static')
  const missed = judged.filter(({ id }) => /survived|not reached/.test(judgements.get(id)!))
  const source = readFileSync(join(home, 'src', file), 'utf8').split('\n')
  const reasons = reasonsOf(file)
  const texts = missed.map(({ location: { start, end }, replacement }) => {
    const line = source[start.line]!
    const changed =
      start.line === end.line ? line.slice(start.column, end.column) : `${line.slice(start.column)} …`
    const text = `${line.trim()}\n    ${changed} → ${replacement.replace(/\s+/g, ' ')}\n`
    return `${text}    ${reasons.get(text) ?? 'not looked into'}\n`
  })
  const noticed = judged.length - missed.length
  return `${noticed} of ${judged.length} mutants are noticed (${((100 * noticed) / Math.max(1, judged.length)).toFixed(1)} %). Not noticed:\n\n${texts.join('')}`
}

function listOf(file: string): string {
  return join(lists, file.replace('/', '-').replace('.ts', '.txt'))
}

/** The reasons in the list of a file, by mutant: the changed line and the change. */
function reasonsOf(file: string): Map<string, string> {
  if (!existsSync(listOf(file))) return new Map()
  const entries = readFileSync(listOf(file), 'utf8').matchAll(/^(\S.*\n {4}.* → .*\n) {4}(.*)$/gm)
  return new Map(Array.from(entries, ([, mutant, reason]) => [mutant!, reason!]))
}

it('every mutant in testdata/mutants has a reason', () => {
  for (const file of files) {
    const reasons = [...reasonsOf(file).values()]
    expect(
      reasons.filter((reason) => !/^(equivalent|slower only): \S/.test(reason)),
      file,
    ).toEqual([])
  }
})

it('the tests notice each mutant but those that testdata/mutants names', async ({ task }) => {
  const only = process.env.TANDEM_MUTATED
  const cases = only === undefined ? testCases(1, files.length) : [0]
  for (const i of cases) {
    const file = only ?? files[i]!
    await expect(await judge(file), file).toMatchFileSnapshot(listOf(file))
  }
  task.meta.cases = cases.length
})
