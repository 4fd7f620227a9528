import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { longSuites } from './long-suites.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('every test file with a long form is in a suite of npm run test:long', () => {
  const files = globSync('packages/*/src/**/*.test.ts', { cwd: root }).filter((path) =>
    /\bTANDEM_LONG\b|\/(test-cases|testing-runs)\.ts'/.test(readFileSync(`${root}${path}`, 'utf8')),
  )
  const listed = longSuites.map(({ file: [folder, path] }) => `packages/${folder}/src/${path}`)
  // The test of what counts and shares out cases has none itself.
  const expected = files.filter((path) => !path.endsWith('/test-cases.test.ts'))
  expect([...new Set(listed)].sort()).toEqual(expected.sort())
})
