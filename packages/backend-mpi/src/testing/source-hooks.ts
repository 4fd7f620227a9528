// For `node --import`: programs of a job run the packages' sources instead of their builds, as tests do;
// `vitest` resolves to the small runner next to this file.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const packages = new URL('../../../', import.meta.url)
const runner = new URL('./rank-tests.ts', import.meta.url)

/** Resolves what Node would look up in the file system for hundreds of modules per process. */
function ofSource({ href }: URL) {
  return { url: href, format: 'module-typescript', shortCircuit: true }
}

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'vitest' && context.parentURL !== runner.href) return ofSource(runner)
    const [, name, subpath] = /^@tandem-gpu\/([\w-]+)(?:\/(\w+))?$/.exec(specifier) ?? []
    if (specifier.startsWith('.') && specifier.endsWith('.ts'))
      return ofSource(new URL(specifier, context.parentURL))
    if (name === undefined) return next(specifier, context)
    const source = new URL(`${name}/src/${subpath === undefined ? '' : `${subpath}/`}index.ts`, packages)
    return existsSync(fileURLToPath(source)) ? ofSource(source) : next(specifier, context)
  },
})
