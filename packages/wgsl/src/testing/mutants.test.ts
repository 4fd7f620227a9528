import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { testCases } from './test-cases.ts'

/*
 * Stryker changes the code of the analyses, of the rules of validity and of the optimisations, one operator or condition at a time, and runs
 * the tests of `mutation.vitest.config.ts` on each mutant. testdata/mutants names those that no test notices, by the line that was changed; a
 * new one there wants a new form in the random kernels, or a reason.
 */

const home = fileURLToPath(new URL('../../', import.meta.url))
const stryker = join(
  dirname(createRequire(import.meta.url).resolve('@stryker-mutator/core')),
  '../../bin/stryker.js',
)

/** The one with the fewest mutants, which the short form of the test takes; then the smallest first. */
const fewest = 'analysis/analyses.ts'
/** Of `cuda`, what decides which checks and copies the text has; golden texts hold the rest. */
const ofCuda = /^(.*-copies|call-path|swizzles|unrolling)\.ts$/
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

interface Position {
  readonly line: number
  readonly column: number
}

/** What Stryker's report says that matters here. */
interface Report {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly mutants: readonly {
          readonly status: string
          readonly replacement: string
          readonly location: { readonly start: Position; readonly end: Position }
        }[]
      }
    >
  >
}

/** The score of a file, and the mutants that no test notices. */
async function judge(file: string): Promise<string> {
  const report = join(home, '.cache', `mutation-${process.pid}.json`)
  await promisify(execFile)(process.execPath, [stryker, 'run', '--mutate', `src/${file}`], {
    cwd: home,
    env: { ...process.env, TANDEM_MUTATION_REPORT: report, TANDEM_LONG: undefined, TANDEM_SHARD: undefined },
    maxBuffer: 64 << 20,
  })
  const { mutants } = (JSON.parse(readFileSync(report, 'utf8')) as Report).files[`src/${file}`]!
  const source = readFileSync(join(home, 'src', file), 'utf8').split('\n')
  const judged = mutants.filter(({ status }) => status !== 'Ignored')
  const missed = judged.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
  const lines = missed.map(({ location: { start, end }, replacement }) => {
    const line = source[start.line - 1]!
    const changed =
      start.line === end.line
        ? line.slice(start.column - 1, end.column - 1)
        : `${line.slice(start.column - 1)} …`
    return `${line.trim()}\n    ${changed} → ${replacement.replace(/\s+/g, ' ')}\n`
  })
  const noticed = judged.length - missed.length
  return `${noticed} of ${judged.length} mutants are noticed (${((100 * noticed) / Math.max(1, judged.length)).toFixed(1)} %). Not noticed:\n\n${lines.join('')}`
}

/** Stryker asks it which processes a run has started. */
const hasPs = spawnSync('ps').error === undefined

it.skipIf(!hasPs)(
  'the tests notice each mutant but those that testdata/mutants names (needs ps)',
  async ({ task }) => {
    const cases = testCases(1, files.length)
    for (const i of cases) {
      const file = files[i]!
      await expect(await judge(file), file).toMatchFileSnapshot(
        `../../testdata/mutants/${file.replace('/', '-').replace('.ts', '.txt')}`,
      )
    }
    task.meta.cases = cases.length
  },
)
