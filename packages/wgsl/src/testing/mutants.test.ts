import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { Random } from './random.ts'
import { isLong, testCases } from './test-cases.ts'

/** One rule of an analysis, weakened: `from` stands once in the file. Tests that watch the analysis must fail. */
interface Mutant {
  readonly file: string
  readonly from: string
  readonly to: string
  readonly tests: readonly string[]
}

const facts = 'testing/fact-checker.test.ts'
const copies = 'cuda/async-copies.test.ts'
const emitted = 'cuda/emit-cuda.test.ts'

const mutants: readonly Mutant[] = [
  // How does a loop count?
  { file: 'analysis/loop-counter.ts', from: 'last + step > limit', to: 'last > limit', tests: [facts] },
  { file: 'analysis/loop-counter.ts', from: 'most === least', to: 'true', tests: [facts] },
  {
    file: 'analysis/loop-counter.ts',
    from: ' || assignments.isAssigned(condition, variable)',
    to: '',
    tests: ['analysis/loop-counter.test.ts'],
  },
  {
    file: 'analysis/loop-counter.ts',
    from: " &&\n      !some(bound, (part) => part.kind === 'variable' && part.variable === variable)",
    to: '',
    tests: ['analysis/loop-counter.test.ts'],
  },
  // Where does a variable change?
  {
    file: 'analysis/assignments.ts',
    from: "if (use === 'load' || ",
    to: "if (use === 'load' || use === 'address' || ",
    tests: [facts, 'analysis'],
  },
  { file: 'analysis/facts.ts', from: 'return !variables.some(changes)', to: 'return true', tests: [facts] },
  // In which interval does a value lie?
  {
    file: 'analysis/interval.ts',
    from: 'if (result === undefined || !contains(all, result)) return { range: all, exact: false }',
    to: 'if (result === undefined) return { range: all, exact: false }',
    tests: [facts],
  },
  {
    file: 'analysis/interval.ts',
    from: 'return a.low >= 0 && b.low >= 0 ? interval(0, a.high) : undefined',
    to: 'return interval(0, a.high)',
    tests: [facts],
  },
  { file: 'analysis/condition-facts.ts', from: "'<': '>=',", to: "'<': '>',", tests: [facts] },
  {
    file: 'analysis/variable-ranges.ts',
    from: 'if (contains(k, v)) return k',
    to: 'if (v.low >= k.low) return k',
    tests: [facts],
  },
  // Are two values the same?
  {
    file: 'analysis/linear-form.ts',
    from: 'isFixed(form)) return form\n          return',
    to: 'true) return form\n          return',
    tests: [facts, 'analysis'],
  },
  {
    file: 'analysis/linear-form.ts',
    from: 'lets: [...new Set(atoms.flatMap((a) => a.lets))]',
    to: 'lets: []',
    tests: [copies],
  },
  // May a copy be asynchronous?
  { file: 'cuda/pending-copies.ts', from: "before.index === 'stepped'", to: 'true', tests: [copies] },
  { file: 'cuda/pending-copies.ts', from: "before.index === 'unknown' || ", to: '', tests: [copies] },
  {
    file: 'cuda/async-copies.ts',
    from: 'if (this.#state.touched.has(copy.variable)) this.unfit.add(statement)',
    to: '',
    tests: [copies],
  },
  {
    file: 'cuda/async-copies.ts',
    from: "'stepped' ? 'fresh'",
    to: "'stepped' ? 'stepped'",
    tests: [copies],
  },
  {
    file: 'cuda/async-copies.ts',
    from: 'for (const p of parameters) this.#declareAnew(p.id)',
    to: '',
    tests: [copies],
  },
  {
    file: 'cuda/async-copies.ts',
    from: 'this.#state = joined(this.#state, this.#returned)',
    to: '',
    tests: [copies],
  },
  {
    file: 'cuda/call-path.ts',
    from: 'if (elements.size < offsets.length) return undefined',
    to: '',
    tests: [copies],
  },
  // Must workgroup memory be zeroed?
  {
    file: 'analysis/zero-init.ts',
    from: 'if (factor !== span) return undefined',
    to: '',
    tests: ['analysis/zero-init.test.ts'],
  },
  {
    file: 'analysis/zero-init.ts',
    from: 'if (loops.some((l) => some(l.body, leaves))) return undefined',
    to: '',
    tests: ['analysis/zero-init.test.ts'],
  },
  // What has effects?
  {
    file: 'analysis/effects.ts',
    from: "e.name.startsWith('atomic') || isCollective(e)",
    to: "e.name.startsWith('atomic')",
    tests: [emitted],
  },
  // What do the facts of a condition outlast?
  {
    file: 'analysis/ranges.ts',
    from: ' || this.#assignments.isAssignedAfter(s, block, v)',
    to: '',
    tests: ['analysis/ranges.test.ts'],
  },
  // Which bytes of a uniform variable are copied?
  {
    file: 'cuda/uniform-copies.ts',
    from: 'for (let c = Math.floor(offset / chunkByteLength); c <= last; c++)',
    to: 'for (let c = last; c <= last; c++)',
    tests: ['cuda/uniform-copies.test.ts'],
  },
  // How can a statement end?
  {
    file: 'validity/behaviour.ts',
    from: 'next: behaviour.next || behaviour.break, break: false',
    to: 'next: behaviour.next',
    tests: ['validity/behaviour.test.ts'],
  },
  {
    file: 'validity/behaviour.ts',
    from: 'ofLoop(find(statement.body), true)',
    to: 'ofLoop(find(statement.body), false)',
    tests: ['validity/behaviour.test.ts'],
  },
  // Is control flow uniform, and are arguments?
  {
    file: 'validity/expression-uniformity.ts',
    from: 'return this.expression(e.right, branch)',
    to: 'return this.expression(e.right, flow)',
    tests: ['validity/validity.test.ts'],
  },
  {
    file: 'validity/expression-uniformity.ts',
    from: 'if (uniformDistance.has(name)) this.#require(e, 1, args[1]!)',
    to: '',
    tests: ['validity/validity.test.ts'],
  },
  {
    file: 'validity/uniformity.ts',
    from: 'pass(call.flow, callee.start)',
    to: '',
    tests: ['validity/validity.test.ts'],
  },
  // Do pointers alias?
  {
    file: 'validity/alias.ts',
    from: 'if (named !== undefined && (writes || named))',
    to: 'if (named !== undefined && writes && named)',
    tests: ['validity/validity.test.ts'],
  },
  {
    file: 'validity/alias.ts',
    from: 'for (const [root, writes] of callee.named) note(accesses, root, writes)',
    to: '',
    tests: ['validity/validity.test.ts'],
  },
]

const source = fileURLToPath(new URL('..', import.meta.url))
const home = fileURLToPath(new URL('../../', import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

/** Do the mutant's tests fail? */
async function isCaught({ file, from, to, tests }: Mutant, number: number): Promise<boolean> {
  const folder = join(home, '.cache', 'mutants', `${process.pid}-${number}`)
  mkdirSync(folder, { recursive: true })
  try {
    cpSync(source, join(folder, 'src'), { recursive: true })
    for (const name of ['testdata', 'native']) symlinkSync(join(home, name), join(folder, name))
    const setup = "setupFiles: ['src/testing/verify-lowered.test.setup.ts']"
    writeFileSync(
      join(folder, 'vitest.config.ts'),
      `export default { test: { include: ['src/**/*.test.ts'], ${setup} } }`,
    )
    const text = readFileSync(join(source, file), 'utf8')
    writeFileSync(
      join(folder, 'src', file),
      text.replace(from, () => to),
    )
    // Tests that compile C++ take long, and are not needed.
    const args = [
      'run',
      '--root',
      folder,
      '--bail',
      '1',
      '--testNamePattern',
      '^(?!.*g\\+\\+)',
      ...tests.map((t) => `src/${t}`),
    ]
    await promisify(execFile)(process.execPath, [vitest, ...args], { cwd: folder })
    return false
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string }
    // A mutant that cannot be run proves nothing.
    if (!/Tests .*failed/s.test(stdout)) throw error
    return true
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it('each mutant weakens a rule that stands in its file', () => {
  for (const { file, from } of mutants)
    expect(readFileSync(join(source, file), 'utf8').split(from), `${file}: ${from}`).toHaveLength(2)
})

it('the tests fail when a rule of an analysis is weakened', async ({ task }) => {
  const random = new Random(mutants.length)
  const drawn = testCases(3, mutants.length).map((i) => (isLong ? i : random.below(mutants.length)))
  const missed: string[] = []
  for (const number of new Set(drawn)) {
    const mutant = mutants[number]!
    if (!(await isCaught(mutant, number))) missed.push(`${mutant.file}: ${mutant.from}`)
  }
  task.meta.cases = drawn.length
  expect(missed).toEqual([])
})
