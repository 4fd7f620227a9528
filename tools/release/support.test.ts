import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

it('each row of the table of what is supported names a test that exists, or says that it was never run', () => {
  const text = readFileSync(join(root, 'docs/support.md'), 'utf8').split('\n**Node 20**')[0]!
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what '))
  expect(rows.length).toBeGreaterThan(12)
  const sources = readdirSync(join(root, 'tools'), { recursive: true, withFileTypes: true }).concat(
    readdirSync(join(root, 'packages'), { recursive: true, withFileTypes: true }),
  )
  const present = new Set(
    sources.filter(({ parentPath }) => !parentPath.includes('node_modules')).map(({ name }) => name),
  )
  for (const row of rows) {
    const tests = [...row.matchAll(/`([\w-]+\.(?:test|release)\.ts)`/g)].map(([, name]) => name!)
    expect(tests.filter((name) => !present.has(name))).toEqual([])
    expect(tests.length > 0 || /never run|npm test|npm run|every test/.test(row), row).toBe(true)
  }
})
