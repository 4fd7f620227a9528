import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { blocksOf } from '../tools/testing/documents.ts'

// What examples/README.md says to type, and what it says is printed. A server prints its one line and goes on
// until it is ended.

const root = fileURLToPath(new URL('..', import.meta.url))
const blocks = blocksOf(root, 'examples/README.md')
const programs = blocks.flatMap((block, at) => {
  const command = /^node (\S+\.ts)(?: (.+))?\n$/.exec(block.text)
  return command === null ? [] : [[command[1]!, command[2], blocks[at + 1]!] as const]
})

it.each(programs)('node %s prints what the README shows', async (path, port, printed) => {
  expect(printed.language).toBe('text')
  // Port 0: any that is free.
  const child = spawn(process.execPath, [path, ...(port === undefined ? [] : ['0'])], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stderr.on('data', (data) => (stderr += data))
  const ended = new Promise((resolve) => child.once('close', resolve))
  for await (const data of child.stdout) {
    stdout += data
    if (port === undefined || !stdout.endsWith('\n')) continue
    const { status } = await fetch(/http\S+/.exec(stdout)![0])
    expect(status).toBe(200)
    child.kill()
  }
  await ended
  // On a machine with a GPU, its name stands in place of the software adapter's.
  const anywhere = (text: string) =>
    text.replace(/by .* through \w+/, 'by GPU').replace(/:\d+\/\?/, ':PORT/?')
  expect(anywhere(stdout), stderr).toBe(anywhere(printed.text))
})

it('every folder but those of a page and of tests alone has a program', () => {
  const folders = readFileSync(`${root}examples/README.md`, 'utf8').matchAll(/^\| \[`([\w-]+)`\]/gm)
  const without = [...folders]
    .map(([, name]) => name!)
    .filter((name) => !programs.some(([path]) => path.startsWith(`${name}/`)))
  expect(without).toEqual(['backend', 'vite-page', 'own-algorithm-in-ci'])
})
