import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openGroup } from './group.ts'
import { referenceBackend } from './testing/reference-backend.ts'

test('the program of the README prints what it says', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const [, snippet] = readme.match(/```ts\n([\s\S]*?)```/)!
  const printed: unknown[] = []
  const names = ['openGroup', 'webgpu', 'console']
  const body = `return (async () => {${snippet!.replace(/^import .*$/gm, '')}})()`
  const program = new Function(...names, body) as (...args: unknown[]) => Promise<void>
  await program(openGroup, referenceBackend, { log: (value: unknown) => printed.push(value) })
  expect(printed).toEqual([Number(snippet!.match(/\/\/ (\d+)/)![1])])
})
