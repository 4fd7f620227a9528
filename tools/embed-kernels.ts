import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

/**
 * Kernels are written in `x.wgsl` files; packages import them from `x.wgsl.ts`, which only this file
 * generates (git ignores it), so that the published packages need neither a bundler nor a file system.
 *
 * As a script, `node tools/embed-kernels.ts` writes the modules of every package. Unchanged ones keep their
 * time stamp.
 */
export function kernelModule(wgslPath: string): string {
  const text = JSON.stringify(readFileSync(wgslPath, 'utf8'))
  return `// Generated from the .wgsl file beside it by tools/embed-kernels.ts.\nexport default ${text}\n`
}

/** Vite plugin: generates `./x.wgsl.ts` from the current `x.wgsl`, whether or not the script has run. */
export function embedKernels(): Plugin {
  // In examples, modules are written by `tandem-wgsl` and committed.
  const isModule = (id: string) => id.endsWith('.wgsl.ts') && !id.includes('/examples/')
  return {
    name: 'tandem-embed-kernels',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!source.startsWith('.') || !importer) return undefined
      const path = resolve(dirname(importer), source)
      return isModule(path) ? path : undefined
    },
    load(id) {
      if (!isModule(id)) return undefined
      const wgslPath = id.slice(0, -'.ts'.length)
      this.addWatchFile(wgslPath)
      return { code: kernelModule(wgslPath), map: null }
    },
  }
}

function writeKernelModules(packagesFolder: string): void {
  for (const name of readdirSync(packagesFolder)) {
    const sources = join(packagesFolder, name, 'src')
    if (!existsSync(sources)) continue
    for (const entry of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
      if (!entry.endsWith('.wgsl')) continue
      const path = join(sources, entry)
      const text = kernelModule(path)
      const target = `${path}.ts`
      if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text)
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeKernelModules(fileURLToPath(new URL('../packages/', import.meta.url)))
}
