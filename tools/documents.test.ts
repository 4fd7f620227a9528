import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadCommands } from '../packages/cli/src/commands/index.ts'
import { withoutNotice } from './release/remove-clone-notice.ts'
import { type Block, blocksOf, documentPaths, expectedLines, fileName } from './testing/documents.ts'

// Every TypeScript snippet of every guide and README is compiled with the published types and runs, in one
// process on the software adapter; quoted files are quoted as they are. A block with a name in its first line
// is a file of the document's folder.

const root = fileURLToPath(new URL('..', import.meta.url))
const documents = documentPaths(root)
const blocks = documents.flatMap((document) => blocksOf(root, document))
const snippets = blocks.filter(({ language, quoted }) => language === 'ts' && quoted === undefined)
let folder: string

const placeOf = ({ document, line }: Block) => `${document}:${line}`
const folderOf = (document: string) => document.replaceAll('/', '-').replace(/\.md$/, '')
const pathOf = (block: Block) => join(folderOf(block.document), fileName(block) ?? `line-${block.line}.ts`)
/** The first snippet of each package's README, which has to run on one GPU. */
const firstOfPackage = documents.flatMap((document) => {
  const first = snippets.find((block) => block.document === document)
  return document.startsWith('packages/') && first !== undefined ? [first] : []
})
const onOneGpu = (block: Block) => pathOf(block).replace(/\.ts$/, '-on-one-gpu.ts')

/** A backend of any name with one adapter, which says that it is hardware. */
const oneGpu = `import type { Backend } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'

function oneGpu(name: string): Backend {
  const inner = referenceBackend()
  return {
    name,
    async adapters() {
      const { adapters } = await inner.adapters()
      return { adapters: adapters.map((adapter) => ({ ...adapter, software: false })) }
    },
    open: (adapters, options) => inner.open(adapters, options),
  }
}

export const webgpu = () => oneGpu('webgpu')
export const cuda = () => oneGpu('cuda')
export const mpi = (inner: Backend) => inner
`

beforeAll(async () => {
  await mkdir(join(root, 'tools/.cache'), { recursive: true })
  folder = await mkdtemp(join(root, 'tools/.cache/documents-'))
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  for (const block of blocks.filter(({ quoted }) => quoted === undefined)) {
    if (block.language === 'ts') await write(pathOf(block), block.text)
    else if (fileName(block) !== undefined)
      await write(join(folderOf(block.document), fileName(block)!), block.text)
  }
  await write('one-gpu.ts', oneGpu)
  for (const block of firstOfPackage)
    await write(
      onOneGpu(block),
      block.text.replaceAll(/'@tandem-gpu\/backend-(webgpu|cuda|mpi)'/g, "'../one-gpu.ts'"),
    )
  await write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        lib: ['es2023'],
        module: 'nodenext',
        strict: true,
        noEmit: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        verbatimModuleSyntax: true,
        allowImportingTsExtensions: true,
        types: ['node'],
      },
      include: ['**/*.ts'],
    }),
  )
  const written = spawnSync(process.execPath, [join(root, 'packages/wgsl/bin/tandem-wgsl.js'), folder], {
    encoding: 'utf8',
  })
  expect(written.status, written.stderr).toBe(0)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('every snippet compiles', () => {
  expect(snippets.length).toBeGreaterThan(20)
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'],
    { encoding: 'utf8', cwd: folder },
  )
  expect(stdout.trim()).toBe('')
  expect(status).toBe(0)
})

it('every snippet runs and prints what its comments say; the first one of a package does so on one GPU too', async () => {
  const paths = [...snippets.map(pathOf), ...firstOfPackage.map(onOneGpu)]
  // Plain node, which strips the types: the packages are the builds that users get.
  await writeFile(join(folder, 'run.mjs'), runner(paths))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['run.mjs'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  expect(status, stderr).toBe(0)
  const outcomes = JSON.parse(stdout) as { path: string; printed: string[]; error?: string }[]
  const problems = outcomes.flatMap(({ path, printed, error }) => {
    const block = [...snippets, ...firstOfPackage].find((one) => [pathOf(one), onOneGpu(one)].includes(path))!
    const expected = expectedLines(block.text)
    const fits =
      error === undefined &&
      printed.length === expected.length &&
      printed.every((line, i) => new RegExp(`^${pattern(expected[i]!)}$`).test(line))
    return fits ? [] : [{ place: placeOf(block), path, printed, expected, error }]
  })
  expect(problems).toEqual([])
})

/** An ellipsis stands for anything. */
function pattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')
}

function runner(paths: readonly string[]): string {
  return `import { format } from 'node:util'
const outcomes = []
const log = console.log
for (const path of ${JSON.stringify(paths)}) {
  const printed = []
  console.log = (...values) => printed.push(...format(...values).split('\\n'))
  const outcome = { path, printed }
  try { await import(new URL(path, ${JSON.stringify(pathToFileURL(`${folder}/`))})) }
  catch (error) { outcome.error = String(error.stack ?? error) }
  outcomes.push(outcome)
}
log(JSON.stringify(outcomes))
process.exit(0)
`
}

it('every quoted block is part of its file', async () => {
  const quoted = blocks.filter(({ quoted }) => quoted !== undefined)
  expect(quoted.length).toBeGreaterThan(3)
  for (const block of quoted) {
    const path = join(root, block.quoted!)
    expect(existsSync(path), `${placeOf(block)} quotes ${block.quoted}`).toBe(true)
    expect(`\n${await readFile(path, 'utf8')}`, placeOf(block)).toContain(`\n${block.text}`)
  }
})

it.each([
  ...['scan-serial.wgsl', 'scan-workgroup.wgsl', 'record-scan.ts', 'scan.ts', 'main.ts', 'scan.test.ts'].map(
    (name) => ['add-an-algorithm', `scan/${name}`] as const,
  ),
  ...['cpu-backend.ts', 'cpu-backend.test.ts'].map((name) => ['write-a-backend', `backend/${name}`] as const),
])('the guide %s quotes every line of %s, in order', async (guide, name) => {
  const path = `examples/${name}`
  const parts = blocks.filter(
    ({ document, quoted }) => document === `docs/guides/${guide}.md` && quoted === path,
  )
  const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '')
  expect(parts.flatMap(({ text }) => lines(text))).toEqual(lines(await readFile(join(root, path), 'utf8')))
})

describe('a document', () => {
  it.each(documents)('%s links to files that exist', async (document) => {
    const text = await readFile(join(root, document), 'utf8')
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => path!)
    for (const link of links) expect(existsSync(join(root, dirname(document), link)), link).toBe(true)
  })

  it.each(documents)('%s says to install every package that its snippets import', (document) => {
    const own = blocks.filter((block) => block.document === document)
    const installed = own.flatMap(({ language, text }) =>
      language === 'sh'
        ? [...text.matchAll(/^npm install (?:[^#\n]*\\\n)*[^#\n]*/gm)].flatMap(([line]) => line.split(/\s+/))
        : [],
    )
    const imported = own.flatMap(({ language, text }) =>
      language === 'ts'
        ? [...text.matchAll(/(?:from|import)\b[ (]'(@tandem-gpu\/[\w-]+)/g)].map(([, name]) => name!)
        : [],
    )
    expect(installed).toEqual(expect.arrayContaining([...new Set(imported)]))
    // A guide is followed in an empty folder, in which Node takes programs for CommonJS unless told
    // otherwise.
    if (document.startsWith('docs/guides/') && imported.length > 0)
      expect(own.some(({ text }) => text.startsWith('npm init --yes\nnpm pkg set type=module\n'))).toBe(true)
  })

  it.each(documents.filter((path) => path.startsWith('packages/')))(
    '%s begins with what to install, and says what the package does not do',
    async (document) => {
      const text = await readFile(join(root, document), 'utf8')
      expect(withoutNotice(text)).toMatch(/^# @tandem-gpu\/[\w-]+\n\n```sh\nnpm install .*@tandem-gpu\//)
      expect(text).toMatch(/^## What it does not do$/m)
    },
  )

  it('docs/cli.md lists the commands as the help does (`vitest -u` writes the table)', async () => {
    const text = await readFile(join(root, 'docs/cli.md'), 'utf8')
    const rows = (await loadCommands()).map(
      ({ name, description }) => `| \`tandem ${name}\` | ${description} |`,
    )
    const table = `| command | does |\n|---|---|\n${rows.join('\n')}\n`
    await expect(text.replace(/^\| command \| does \|\n(\|.*\n)*/m, () => table)).toMatchFileSnapshot(
      join(root, 'docs/cli.md'),
    )
  })
})
