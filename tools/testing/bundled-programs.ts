import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { TestProject } from 'vitest/node'
import { isKept, removeUnused } from '../../packages/wgsl/src/testing/kept-files.ts'
import { packageSources } from '../package-sources.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the bundled programs. */
    programs: string
  }
}

/** Removes programs, and their compile caches, whose sources no test run has bundled for a day. */
export const keptMilliseconds = 86_400_000

/**
 * Preserves the addresses of modules, bundled or not, so that the packages find their addons and libraries.
 */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]packages[\\/][\w-]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path).href),
      ),
    }))
  },
}

/** Replaces modules by others, by name; a replacement may import the module that it replaces. */
function replacing(replacements: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'replacements',
    setup({ onResolve }) {
      onResolve({ filter: /^[^.]/ }, ({ path, importer }) => {
        const replacement = replacements.get(path)
        if (replacement === undefined) return undefined
        return replacement === importer ? { path, external: true } : { path: replacement }
      })
    },
  }
}

/**
 * Bundles programs of a package with the sources of all packages into a few files, and returns their folder:
 * `src/bin.ts` is `bin.mjs` there. They do what their sources do, and a process of one starts in less than
 * half the time: it reads no hundreds of modules.
 */
async function bundle(
  root: string,
  programs: readonly string[],
  replacements: Readonly<Record<string, string>>,
): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [...programs],
    outdir: root,
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    write: false,
    platform: 'node',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    plugins: [
      replacing(
        new Map([
          ...packageSources,
          ...Object.entries(replacements).map(([name, path]) => [name, join(root, path)] as const),
        ]),
      ),
      ownAddresses,
    ],
    external: ['webgpu', 'node-gyp-build', 'linkedom', '@observablehq/plot'],
    // For bundled CommonJS.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)",
    },
  })
  const hash = createHash('sha256')
  for (const { path, contents } of outputFiles) hash.update(path).update(contents)
  const all = join(root, '.cache/programs')
  removeUnused(all, keptMilliseconds)
  // Named by its content, and complete from the start, since two test runs may create it at the same time.
  const folder = join(all, hash.digest('hex').slice(0, 16))
  if (isKept(folder)) return folder
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  for (const { path, contents } of outputFiles) writeFileSync(join(unfinished, basename(path)), contents)
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/**
 * A global setup of vitest that bundles programs of the package under test once for all its tests, which find
 * their folder by `inject('programs')`. `replacements` are modules of the package in place of others, by the
 * names of these.
 */
export function bundledPrograms(
  programs: readonly string[],
  replacements: Readonly<Record<string, string>> = {},
) {
  return async (project: TestProject): Promise<void> => {
    const provide = async () =>
      project.provide('programs', await bundle(project.config.root, programs, replacements))
    project.onTestsRerun(provide)
    await provide()
  }
}
