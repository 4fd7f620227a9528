import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const packagesFolder = fileURLToPath(new URL('../../../', import.meta.url))
const folder = fileURLToPath(new URL('../../.cache/command', import.meta.url))

/** Modules know where they are, bundled or not: the packages find their addons and libraries. */
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

/** The packages by name, in their sources. */
const sources = Object.fromEntries(
  readdirSync(packagesFolder).flatMap((name) =>
    ['', '/testing', '/native', '/reference'].flatMap((subpath) => {
      const path = `${packagesFolder}${name}/src${subpath}/index.ts`
      return existsSync(path) ? [[`@tandem-gpu/${name}${subpath}`, path]] : []
    }),
  ),
)

/**
 * Bundles the command with the sources of all packages into a few files, and returns the path of the one to run. It does what `bin.ts` does, and a
 * process of it starts in a third of the time: it reads no hundreds of modules.
 */
export async function bundledCommand(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../bin.ts', import.meta.url))],
    outdir: folder,
    // Names by content: two runs of the tests write the same files.
    entryNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    platform: 'node',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    alias: sources,
    plugins: [ownAddresses],
    external: ['webgpu', 'node-gyp-build', 'linkedom', '@observablehq/plot'],
    // For bundled CommonJS.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)",
    },
  })
  mkdirSync(folder, { recursive: true })
  for (const { path, contents } of outputFiles) {
    if (existsSync(path)) continue
    writeFileSync(`${path}.${process.pid}`, contents)
    renameSync(`${path}.${process.pid}`, path)
  }
  return outputFiles.map(({ path }) => path).find((path) => path.startsWith(`${folder}/bin-`))!
}
