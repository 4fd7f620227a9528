import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packagesFolder = fileURLToPath(new URL('../packages/', import.meta.url))

/**
 * What the packages export, by the names under which it is imported, in their sources. Tests take these for
 * the builds: an edit is tested without a rebuild.
 */
export const packageSources: readonly (readonly [name: string, path: string])[] = readdirSync(
  packagesFolder,
).flatMap((folder) =>
  ['', '/backend', '/testing', '/native', '/reference'].flatMap((subpath): [string, string][] => {
    const path = `${packagesFolder}${folder}/src${subpath}/index.ts`
    return existsSync(path) ? [[`@tandem-gpu/${folder}${subpath}`, path]] : []
  }),
)
