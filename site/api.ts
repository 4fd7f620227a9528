import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, type TypeDocOptions } from 'typedoc'
import { apiEntries } from './api-entries.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Writes a page for each entry point into pages/api, by TypeDoc with the TypeScript of this folder. */
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
    router: 'module',
    hideBreadcrumbs: true,
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
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeApi()
