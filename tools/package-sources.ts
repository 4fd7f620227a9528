import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packagesFolder = fileURLToPath(new URL('../packages/', import.meta.url))

/**
 * The exports of the packages, by the names under which they are imported, as source files. Tests use these
 * instead of the builds, so that an edit is tested without a rebuild.
 */
export const packageSources: readonly (readonly [name: string, path: string])[] = readdirSync(
  packagesFolder,
).flatMap((folder) =>
  ['', '/backend', '/testing', '/native', '/reference'].flatMap((subpath): [string, string][] => {
    const path = `${packagesFolder}${folder}/src${subpath}/index.ts`
    return existsSync(path) ? [[`@tandem-gpu/${folder}${subpath}`, path]] : []
  }),
)
