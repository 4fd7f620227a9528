// The part of vitest that suites in the processes of a job need, because vitest's own workers are not main
// threads. Each rank declares the same tests and runs them in the order of their declaration, so that the
// ranks make the same calls.
export { expect } from 'vitest'

type Body = (context: TestContext) => unknown
export type TestContext = { skip(reason?: string): never }

interface Suite {
  readonly name: string
  readonly parent: Suite | undefined
  readonly before: Body[]
  readonly after: Body[]
  readonly beforeEach: Body[]
  readonly afterEach: Body[]
  readonly entries: ({ readonly name: string; readonly body: Body } | Suite)[]
}

class Skipped extends Error {}

const root = suite('', undefined)
let current = root

function suite(name: string, parent: Suite | undefined): Suite {
  return { name, parent, before: [], after: [], beforeEach: [], afterEach: [], entries: [] }
}

export function describe(name: string, body: () => void): void {
  const inner = suite(name, current)
  current.entries.push(inner)
  current = inner
  body()
  current = inner.parent!
}

export function test(name: string, body: Body): void {
  current.entries.push({ name, body })
}

export const it = test

export function beforeAll(body: Body): void {
  current.before.push(body)
}

export function afterAll(body: Body): void {
  current.after.push(body)
}

export function beforeEach(body: Body): void {
  current.beforeEach.push(body)
}

export function afterEach(body: Body): void {
  current.afterEach.push(body)
}

export interface TestCounts {
  passed: number
  skipped: number
  failures: { readonly name: string; readonly error: unknown }[]
}

/**
 * Runs the declared tests. Stops at the first failure, because the ranks may have made different calls.
 */
export async function runTests(): Promise<TestCounts> {
  const counts: TestCounts = { passed: 0, skipped: 0, failures: [] }
  await runSuite(root, '', counts)
  return counts
}

const context: TestContext = {
  skip(reason) {
    throw new Skipped(reason)
  },
}

async function runSuite(own: Suite, path: string, counts: TestCounts): Promise<void> {
  const name = [path, own.name].filter(Boolean).join(' > ')
  const guarded = async (what: string, bodies: readonly Body[]) => {
    try {
      for (const body of bodies) await body(context)
      return true
    } catch (error) {
      if (error instanceof Skipped) counts.skipped++
      else counts.failures.push({ name: `${name} > ${what}`, error })
      return false
    }
  }
  if (!(await guarded('beforeAll', own.before))) return
  for (const entry of own.entries) {
    if (counts.failures.length > 0) break
    if ('entries' in entry) {
      await runSuite(entry, name, counts)
      continue
    }
    const passed = await guarded(entry.name, [...hooksOf(own, 'beforeEach'), entry.body])
    const cleaned = await guarded(`${entry.name}, afterEach`, hooksOf(own, 'afterEach'))
    if (passed && cleaned) counts.passed++
  }
  await guarded('afterAll', own.after)
}

/** Those of the suite and of the suites around it, outermost first. */
function hooksOf(own: Suite | undefined, kind: 'beforeEach' | 'afterEach'): Body[] {
  return own === undefined ? [] : [...hooksOf(own.parent, kind), ...own[kind]]
}
