// `node --import`: programs of a job run the packages' sources, not their builds, as tests do; `vitest` is the small runner beside this file.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

const packages = new URL('../../../', import.meta.url)
const runner = new URL('./rank-tests.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'vitest' && context.parentURL !== runner) return { url: runner, shortCircuit: true }
    const [, name, subpath] = /^@tandem-gpu\/([\w-]+)(?:\/(\w+))?$/.exec(specifier) ?? []
    if (name === undefined) return next(specifier, context)
    const source = new URL(`${name}/src/${subpath === undefined ? '' : `${subpath}/`}index.ts`, packages)
    return existsSync(fileURLToPath(source))
      ? { url: source.href, shortCircuit: true }
      : next(specifier, context)
  },
})
