import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/**
 * Builds a C source in native/test, of this package or of backend-cuda, that jobs preload. The library is
 * deleted when the test ends. Needs a C compiler.
 */
export function preloadedLibrary(source: string): string {
  const path = fileURLToPath(new URL(`../../${source}`, import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'tandem-preloaded-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const library = join(folder, `${basename(source, '.c')}.so`)
  const built = spawnSync('cc', ['-shared', '-fPIC', path, '-o', library, '-ldl'], { encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`${source} does not build: ${built.stderr}`)
  return library
}
