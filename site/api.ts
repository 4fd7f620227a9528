import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, type TypeDocOptions } from 'typedoc'
import { apiEntries } from './api-entries.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Writes a page for each symbol of each entry point into pages/api, by TypeDoc with the TypeScript of this
 * folder.
 */
export async function writeApi(): Promise<void> {
  // TypeDoc names a page after its file, so each entry point gets a file of its name.
  const folder = join(root, 'site/pages/entries')
  const files = [...apiEntries()].map(([name, source]) => {
    const file = join(folder, `${name}.ts`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `export * from '${relative(dirname(file), source)}'\n`)
    return file
  })
  const options: TypeDocOptions & Record<string, unknown> = {
    entryPoints: files,
    tsconfig: join(root, 'site/tsconfig.api.json'),
    plugin: ['typedoc-plugin-markdown'],
    out: join(root, 'site/pages/api'),
    readme: 'none',
    router: 'member',
    name: 'API',
    hidePageHeader: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    sanitizeComments: true,
    entryFileName: 'index',
    basePath: folder,
    skipErrorChecking: true,
    logLevel: 'Warn',
  }
  const app = await Application.bootstrapWithPlugins(options)
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc found nothing.')
  await app.generateOutputs(project)
  if (app.logger.hasErrors()) throw new Error('TypeDoc reports errors.')
  rmSync(folder, { recursive: true })
  renameIndexSymbols(join(root, 'site/pages/api'))
  writeFileSync(join(root, 'site/pages/api/index.md'), indexPage())
}

/** To VitePress, the page of a symbol `Index` would be the index of its folder. */
function renameIndexSymbols(pages: string): void {
  for (const name of readdirSync(pages, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.md')) continue
    const path = join(pages, name)
    const text = readFileSync(path, 'utf8')
    const linked = text.replaceAll(/(\(|\/)Index\.md/g, '$1Index-symbol.md')
    if (linked !== text) writeFileSync(path, linked)
    if (basename(name) === 'Index.md') renameSync(path, join(dirname(path), 'Index-symbol.md'))
  }
}

/** The five symbols with which most programs are written, before the lists of everything. */
const essentials: readonly (readonly [symbol: string, page: string, does: string])[] = [
  ['openGroup', 'core/functions/openGroup', 'opens devices; without options, every GPU that is found'],
  [
    'DeviceGroup',
    'core/interfaces/DeviceGroup',
    'the devices together: it compiles kernels, records programs, and has the queue',
  ],
  ['Device', 'core/interfaces/Device', 'one GPU: it allocates buffers'],
  ['Recorder', 'core/interfaces/Recorder', 'takes down dispatches, copies and fills, whose order is derived'],
  ['Queue', 'core/interfaces/Queue', 'writes, runs and reads'],
]

function indexPage(): string {
  const pages = join(root, 'site/pages/api')
  const rows = essentials.map(([symbol, page, does]) => {
    if (!existsSync(join(pages, `${page}.md`))) throw new Error(`There is no page api/${page}.md.`)
    return `| [\`${symbol}\`](./${page}.md) | ${does} |`
  })
  const entries = [...apiEntries().keys()].map((name) => `| [\`@tandem-gpu/${name}\`](./${name}/index.md) |`)
  return `# API reference

## The essentials

Most programs use these five symbols of \`@tandem-gpu/core\`, and a backend: [\`cuda\`](./backend-cuda/functions/cuda.md) or [\`webgpu\`](./backend-webgpu/functions/webgpu.md).

| symbol | does |
|---|---|
${rows.join('\n')}

## Every entry point

Each symbol has a page of its own.

| import |
|---|
${entries.join('\n')}
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeApi()
